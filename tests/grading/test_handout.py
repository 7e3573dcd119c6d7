# SPDX-License-Identifier: MIT
"""./lab handout: no solution in it; with PEERLAB_FULL in the environment every lab alone is built
and tested there, too."""

import json
import platform
import re
import shutil
import subprocess
import unittest
import zipfile
from pathlib import Path

from classroom import BUILD, PROJECT, ROOT, Classroom, at_full_length, file_name, skeleton, solution

from grader.base.exits import ExitStatus
from grader.course.strip import keep_todos

LABS = [lab.number for lab in PROJECT.labs()]
NEVER = re.compile(r"/(solutions|tests/mutants|tests/grading|bench)/|hidden")


def cache(name: str) -> str:
    """An entry of the build's CMake cache."""
    text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)
    return found.group(1) if found else ""


def hidden_cases() -> set[str]:
    rubrics = (PROJECT.solutions_dir).glob("*/tests/rubric.json")
    cases = [case for path in rubrics for case in json.loads(path.read_text())["cases"]]
    return {case["case"] for case in cases if case["case"].startswith("hidden.")}


class Handout(Classroom):
    """Handouts follow one another in one folder, so that what they share is built once."""

    def take(self, labs: str) -> list[str]:
        """Another handout in the place of the last; the names of its files."""
        archive = self.folder / "handout.zip"
        self.lab("handout", archive, "--labs", labs, "--no-build")
        for folder in ("labs", "skeletons", "reference"):
            shutil.rmtree(self.root / folder, ignore_errors=True)
        with zipfile.ZipFile(archive) as file:
            for info in file.infolist():
                path, contents = self.folder / info.filename, file.read(info)
                if not path.is_file() or path.read_bytes() != contents:
                    file.extract(info, self.folder)
            (self.root / "lab").chmod(0o755)
            return file.namelist()

    @property
    def root(self) -> Path:
        return self.folder / "peerlab"

    def mine(self, number: str) -> Path:
        return self.root / "labs" / PROJECT.lab(number).folder / file_name(number)

    def run_there(self, *words: str, status: int = ExitStatus.OK) -> str:
        done = subprocess.run(
            words, cwd=self.root, capture_output=True, text=True, check=False, timeout=800
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def configure(self) -> None:
        launcher = shutil.which("ccache")
        words = ["cmake", "--preset", "vgpu", "-G", cache("CMAKE_GENERATOR")]
        for language in ("C", "CXX") if launcher else ():
            words.append(f"-DCMAKE_{language}_COMPILER_LAUNCHER={launcher}")
        self.run_there(*words)

    @at_full_length
    def test_each_lab_alone(self) -> None:
        for number in LABS:
            with self.subTest(lab=number):
                self.check_names(self.take(number), number)
                self.configure()
                said = self.run_there("./lab", "test", number, status=ExitStatus.NOT_WRITTEN)
                self.assertNotIn("passed", said)
                self.check_half(number)
                self.mine(number).write_text(solution(number), encoding="utf-8")
                said = self.run_there("./lab", "test", number)
                self.assertRegex(said, r"\n\d+ passed: (\d+) of \1 points")
        self.check_commands()
        self.check_another_machine()

    def check_names(self, names: list[str], number: str) -> None:
        for name in names:
            self.assertNotRegex(name, NEVER)
        folders = {name.split("/")[2] for name in names if name.startswith("peerlab/labs/")}
        self.assertEqual(folders, {".generated.json", PROJECT.lab(number).folder})
        self.assertEqual(self.mine(number).read_text(encoding="utf-8"), skeleton(number))

    def check_half(self, number: str) -> None:
        """TODO(1) that is not written hides no other task's tests: these take the reference's."""
        text = keep_todos(solution(number), file_name(number), frozenset(range(2, 20)))
        self.mine(number).write_text(text, encoding="utf-8")
        said = self.run_there("./lab", "test", number, status=ExitStatus.NOT_WRITTEN)
        for line in said.splitlines():
            if line.startswith("○"):
                self.assertRegex(line, r" (TODO\(1\)|whole lab) ")
        self.assertRegex(said, r"\n\d+ passed, \d+ not written yet: ")

    def check_commands(self) -> None:
        """After lab 08, whose solution is still there."""
        self.run_there("./lab", "reset", "8")
        self.assertEqual(self.mine("08").read_text(encoding="utf-8"), skeleton("08"))
        self.assertIn("Hint", self.mine("08").with_name("README.md").read_text())
        self.run_there("./lab", "hint", "8", "1")
        for words in (["grade", "x", "--out", "y"], ["handout", "x.zip"], ["selfcheck"]):
            said = self.run_there("./lab", *words, status=ExitStatus.MISSING)
            self.assertIn("not part of a handout", said)

    def check_another_machine(self) -> None:
        """Without an object for it, all functions are the student's, and all can be tested."""
        self.take("1")
        shutil.rmtree(self.root / "reference")
        for runner in (self.root / "build/vgpu/runners").glob("lab01-run*"):
            runner.unlink()  # there never were any
        self.configure()
        self.mine("01").write_text(solution("01"), encoding="utf-8")
        self.assertRegex(self.run_there("./lab", "test", "01"), r"\n\d+ passed: (\d+) of \1 ")
        wrong = solution("01").replace("*n = count;", "*n = count + 1;", 1)
        self.mine("01").write_text(wrong, encoding="utf-8")
        said = self.run_there("./lab", "test", "01", status=ExitStatus.FAILED)
        self.assertRegex(said, r"✗ lab01\.table +whole lab")

    def test_nothing_leaks(self) -> None:
        """The whole course: no solution's text, no hidden test's name, no place of this machine."""
        names = self.take("")
        objects = [name for name in names if name.startswith("peerlab/reference/")]
        expected = {
            f"peerlab/reference/{platform.machine()}/{lab.folder}.o" for lab in PROJECT.labs()
        }
        self.assertEqual(set(objects), expected)
        words = [b"BEGIN SOLUTION", *(name.encode() for name in hidden_cases())]
        self.assertGreater(len(words), 20)
        words += [str(place).encode() for place in (ROOT, BUILD)]
        for name in names:
            self.assertNotRegex(name, NEVER)
            contents = (self.folder / name).read_bytes()
            found = [word for word in words if word in contents]
            self.assertLessEqual(set(found), self.maintainers(name), name)
        for name in objects:
            sections = subprocess.run(
                ["objdump", "-h", self.folder / name], capture_output=True, text=True, check=True
            )
            self.assertNotIn(".debug", sections.stdout)

    def maintainers(self, name: str) -> set[bytes]:
        """What the course's own programs may say: the mark that they look for, an example."""
        said = {b"BEGIN SOLUTION", b"hidden.split"}
        return said if name.startswith(("peerlab/grader/", "peerlab/docs/")) else set()


if __name__ == "__main__":
    unittest.main()
