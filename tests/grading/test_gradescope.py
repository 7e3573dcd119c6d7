# SPDX-License-Identifier: MIT
"""./lab gradescope: the autograder's zip, and its program run as Gradescope runs it."""

import json
import os
import shutil
import subprocess
import unittest
import zipfile

from classroom import BUILD, ROOT, Classroom, skeleton, solution

from grader.tests.export import test_export


class Gradescope(Classroom):
    def setUp(self) -> None:
        super().setUp()
        self.zip = self.folder / "autograder.zip"
        self.lab("gradescope", self.zip, "--labs", "1", "--seed", "5")
        self.there = self.folder / "autograder"
        with zipfile.ZipFile(self.zip) as archive:
            archive.extractall(self.there / "source")
        (self.there / "submission").mkdir()

    def test_what_is_in_it(self) -> None:
        with zipfile.ZipFile(self.zip) as archive:
            modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
        for name in ("setup.sh", "run_autograder"):
            self.assertEqual(modes[name] & 0o111, 0o111, name)
            subprocess.run(["bash", "-n", self.there / "source" / name], check=True)
        with zipfile.ZipFile(self.there / "source" / "course.zip") as course:
            names = course.namelist()
            self.assertRegex(course.read("VERSION"), rb"\A\S+\n\Z")
        for name in ("lab", "CMakePresets.json", "solutions/01-enumerate/tests/hidden.c"):
            self.assertIn(name, names)

    def run_autograder(self, text: str | None) -> tuple[int, str]:
        """As after setup.sh: the course lies in course/, built."""
        course = self.there / "course"
        if not course.exists():
            course.mkdir()
            script = f'#!/bin/sh\nexec "{ROOT}/lab" --build "{BUILD}" "$@"\n'
            (course / "lab").write_text(script)
            (course / "lab").chmod(0o755)
        shutil.rmtree(self.there / "results", ignore_errors=True)
        if text is not None:
            (self.there / "submission" / "enumerate.c").write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["bash", self.there / "source" / "run_autograder"],
            env={**os.environ, "AUTOGRADER": str(self.there)},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return done.returncode, done.stdout + done.stderr

    def results(self) -> dict[str, object]:  # type: ignore[override]
        text = (self.there / "results" / "results.json").read_text(encoding="utf-8")
        found = json.loads(text)
        test_export.Gradescope().check(found)
        return found

    def test_it_grades(self) -> None:
        for text, score in ((None, 0), (skeleton("01"), 0), (solution("01"), 100)):
            status, said = self.run_autograder(text)
            self.assertEqual(status, 0, said)
            found = self.results()
            self.assertEqual(found["score"], score)
            self.assertEqual(found["extra_data"]["seed"], 5)  # type: ignore[index]

    def test_no_mark_is_no_zero(self) -> None:
        (self.there / "source" / "labs").write_text("9\n")
        status, said = self.run_autograder(solution("01"))
        self.assertNotEqual(status, 0, said)
        self.assertFalse((self.there / "results" / "results.json").exists())


if __name__ == "__main__":
    unittest.main()
