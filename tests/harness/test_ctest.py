# SPDX-License-Identifier: MIT
"""A learner's day with ctest: nothing built, nothing written, an error, the answer."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STUDENT = HERE / "labs/90-toy/toy.c"
SOLUTION = HERE / "solutions/90-toy/toy.c"


class Day:
    """A small checkout in a folder with a blank in its name."""

    def __init__(self, generator: str) -> None:
        self.room = tempfile.TemporaryDirectory(prefix="toy day ", dir=os.environ["PEERLAB_BUILD"])
        self.root = Path(self.room.name)
        self.build = self.root / "build/vgpu"
        self.file = self.root / "labs/90-toy/toy.c"
        shutil.copytree(STUDENT.parent, self.file.parent)
        shutil.copy(HERE / "project/CMakeLists.txt", self.root)
        shutil.copy(ROOT / "CTestTestfile.cmake", self.root)
        self.generator = generator

    def run(self, *words: object, cwd: Path | None = None) -> tuple[int, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("CTEST_", "CMAKE_"))}
        done = subprocess.run(
            [str(w) for w in words],
            cwd=cwd or self.root,
            env=env,
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
        return done.returncode, done.stdout

    def configure(self) -> tuple[int, str]:
        return self.run(
            "cmake", "-S", self.root, "-B", self.build, "-G", self.generator, f"-DPEERLAB={ROOT}"
        )


class WithCTest(unittest.TestCase):
    def spend(self, generator: str) -> None:
        day = Day(generator)
        with day.room:
            status, text = day.run("ctest", "-R", "lab90")
            self.assertNotEqual(status, 0)
            self.assertIn("  ./lab start\n", text)
            day.run("ctest", cwd=day.file.parent)
            status, text = day.configure()
            self.assertEqual(status, 0, text)
            self.assertEqual([*day.root.glob("Testing"), *day.root.glob("labs/*/Testing")], [])
            self.nothing_written(day)
            self.an_error(day)
            self.a_mistake(day)
            self.the_answer(day)
            self.selections(day)

    def nothing_written(self, day: Day) -> None:
        """Nothing is built yet; from the root, the lab's folder, then from the build folder."""
        for folder in (day.root, day.file.parent, day.build):
            before = set(folder.iterdir())
            status, text = day.run("ctest", "-R", "lab90", cwd=folder)
            self.assertNotEqual(status, 0)
            self.assertIn("build.lab90 ......", text)
            self.assertEqual(text.count("***Skipped"), 4, text)
            self.assertEqual(text.count("***Failed"), 1, text)
            self.assertIn("not written yet: TODO(2) at labs/90-toy/toy.c:13", text)
            self.assertEqual(text.count("  not written yet: "), 3, text)  # and the whole lab: no
            self.assertIn("Not written is not failed", text)
            self.assertIn("next: read task 1 in labs/90-toy/README.md", text)
            self.assertLessEqual(set(folder.iterdir()) - before, {day.build / "Testing"})

    def an_error(self, day: Day) -> None:
        """A file that does not compile is said to be so, and stops nothing else."""
        day.file.write_text(SOLUTION.read_text(encoding="utf-8") + "\nint oops(\n")
        status, text = day.run("ctest", "-R", "lab90")
        self.assertNotEqual(status, 0)
        self.assertIn("labs/90-toy/toy.c does not compile yet", text)
        self.assertRegex(text, r"labs/90-toy/toy.c:\d+:\d+: error: expected")
        self.assertNotIn("not written yet", text)
        self.assertEqual(text.count("***Not Run"), 4, text)
        status, text = day.run("cmake", "--build", day.build)
        self.assertEqual(status, 0, text)

    def a_mistake(self, day: Day) -> None:
        """Why a test failed is shown without an option, and once with --output-on-failure."""
        answer = SOLUTION.read_text(encoding="utf-8")
        wrong = answer.replace("x + x", "x + x + 1")
        self.assertNotEqual(answer, wrong)
        day.file.write_text(wrong, encoding="utf-8")
        for words in ((), ("--output-on-failure",)):
            status, text = day.run("ctest", "-R", "lab90.one", *words, cwd=day.file.parent)
            self.assertNotEqual(status, 0)
            self.assertEqual(text.count("./lab hint 90 1"), 1, text)
            self.assertRegex(text, r"(?m)^  what +toy_double")
        answered = day.file.with_name("kept")
        answered.write_text(answer, encoding="utf-8")
        os.utime(answered, (1, 1))  # as one that is put back by mv, or out of an archive
        answered.replace(day.file)
        status, text = day.run("ctest", "-R", "lab90.one")
        self.assertEqual(status, 0, text)
        day.file.write_text(wrong, encoding="utf-8")
        self.assertNotEqual(day.run("ctest", "-R", "lab90.one")[0], 0)
        _, text = day.run("ctest", "-N", "-R", "lab90")  # runs nothing: nothing has failed
        self.assertNotIn("toy_double", text)

    def the_answer(self, day: Day) -> None:
        shutil.copy(SOLUTION, day.file)
        status, text = day.run("ctest", "-R", "lab90")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, "100% tests passed(, 0 tests failed)? out of 6")  # CMake 4 says less
        self.assertNotIn("a number is doubled", text)  # what failed in the run before
        self.assertTrue((day.build / "results/lab90.all.json").exists())

    def selections(self, day: Day) -> None:
        for words, count in (
            (["-R", "lab90\\."], 4),
            (["-L", "learner"], 6),  # with what builds them, and what asks whether all is written
            (["-L", "quick"], 1),  # the solution's: a learner's fail until they are written
            (["-R", "solution90.hidden"], 7),
            (["-L", "todo2"], 2),
        ):
            _, text = day.run("ctest", "-N", "-FA", ".*", *words)
            self.assertIn(f"Total Tests: {count}", text)
        status, text = day.run("ctest", "-R", "solution90.hidden.skip")
        self.assertEqual(status, 0)
        self.assertIn("***Skipped", text)

    @unittest.skipUnless(shutil.which("ninja"), "no ninja here")
    def test_ninja(self) -> None:
        self.spend("Ninja")

    @unittest.skipUnless("PEERLAB_FULL" in os.environ, "with Ninja only: PEERLAB_FULL=1 for make")
    @unittest.skipUnless(shutil.which("make"), "no make here")
    def test_make(self) -> None:
        self.spend("Unix Makefiles")


if __name__ == "__main__":
    unittest.main()
