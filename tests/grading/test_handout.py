# SPDX-License-Identifier: MIT
"""./lab handout: no solution in it, and building and testing it works on its own."""

import re
import shutil
import subprocess
import unittest
import zipfile
from pathlib import Path

from classroom import BUILD, Classroom, file_name, skeleton, solution


def cache(name: str) -> str:
    """An entry of the build's CMake cache."""
    text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)
    return found.group(1) if found else ""


class Handout(Classroom):
    def setUp(self) -> None:
        super().setUp()
        archive = self.folder / "handout.zip"
        self.said = self.lab("handout", archive, "--labs", "1,2")
        with zipfile.ZipFile(archive) as file:
            self.names = set(file.namelist())
            file.extractall(self.folder)
        self.root = self.folder / "peerlab"
        (self.root / "lab").chmod(0o755)

    def run_there(self, *words: str, status: int = 0) -> str:
        done = subprocess.run(
            words, cwd=self.root, capture_output=True, text=True, check=False, timeout=800
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def build(self) -> None:
        launcher = shutil.which("ccache")
        words = ["cmake", "--preset", "vgpu", "-G", cache("CMAKE_GENERATOR")]
        for language in ("C", "CXX") if launcher else ():
            words.append(f"-DCMAKE_{language}_COMPILER_LAUNCHER={launcher}")
        self.run_there(*words)

    def test_it(self) -> None:
        self.check_contents()
        self.build()
        said = self.run_there("./lab", "test", "01", status=3)
        self.assertIn("not written yet: labs/01-enumerate/enumerate.c:", said)
        mine = self.root / "labs" / "01-enumerate" / file_name("01")
        mine.write_text(solution("01"), encoding="utf-8")
        self.assertRegex(self.run_there("./lab", "test", "01"), r"\d+ passed: \d+ of \d+ points")
        self.assertIn("mine", self.check_half(mine))
        self.run_there("./lab", "reset", "1")
        self.assertEqual(mine.read_text(encoding="utf-8"), skeleton("01"))
        self.assertIn("Hint", (self.root / "labs/01-enumerate/README.md").read_text())
        self.run_there("./lab", "hint", "1", "1")
        said = self.run_there("./lab", "grade", "x", "--out", "y", status=8)
        self.assertIn("not part of a handout", said)

    def check_half(self, mine: Path) -> str:
        """Without the reference a test of TODO(2) uses the student's own TODO(1)."""
        text = "// mine\n" + solution("01").replace("*n = count;", "*n = count + 1;", 1)
        mine.write_text(text, encoding="utf-8")
        said = self.run_there("./lab", "test", "01", status=1)
        self.assertIn("./lab hint 01 1", said)
        return text

    def check_contents(self) -> None:
        self.assertIn("files", self.said)
        for name in self.names:
            self.assertNotRegex(name, r"/(solutions|tests/mutants|tests/grading|bench)/|hidden")
        self.assertIn("peerlab/labs/01-enumerate/enumerate.c", self.names)
        self.assertFalse([name for name in self.names if "/03-p2p-copy/" in name])
        for folder, number in (("01-enumerate", "01"), ("02-peer-access", "02")):
            for place in ("labs", "skeletons"):
                file = self.root / place / folder / file_name(number)
                self.assertEqual(file.read_text(encoding="utf-8"), skeleton(number))
                for path in file.parent.rglob("*"):
                    marked = path.is_file() and b"BEGIN SOLUTION" in path.read_bytes()
                    self.assertFalse(marked, path)


if __name__ == "__main__":
    unittest.main()
