# SPDX-License-Identifier: MIT
"""grader.grade.screen where nothing is a terminal: progress as lines, and names in full."""

import contextlib
import io
import time
import unittest
from unittest import mock

from grader.base.exits import LabError
from grader.building.install import own_packages
from grader.course.project import here
from grader.tests.export.test_export import SOME
from grader.tests.grade.test_pages import results

NAME = "a student whose name has many more than sixteen letters, and goes on"


class Screen(unittest.TestCase):
    def setUp(self) -> None:
        own_packages(here())
        try:
            from grader.grade import screen
        except LabError as error:
            raise unittest.SkipTest(str(error)) from error
        self.screen = screen

    def test_names_are_not_cut(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            rows = [{**SOME, "student": NAME, "lab": "lab01"}]
            self.screen.console().print(self.screen.table(results(*rows)))
        self.assertIn(NAME, said.getvalue())

    def test_progress_is_told_in_lines(self) -> None:
        said = io.StringIO()
        clock = iter(range(0, 1000, 4))
        with (
            contextlib.redirect_stdout(said),
            mock.patch.object(self.screen.time, "monotonic", lambda: float(next(clock))),
            self.screen.progress(self.screen.console(), 10) as tick,
        ):
            for number in range(10):
                tick(f"lab01/s{number}")
        lines = said.getvalue().splitlines()
        self.assertEqual(lines[0], "graded 3 of 10, 28 s left; the last was lab01/s2")
        self.assertEqual(lines[-1], "graded 9 of 10, 4 s left; the last was lab01/s8")
        self.assertEqual(len(lines), 3)

    def test_what_takes_long_says_so(self) -> None:
        said = io.StringIO()
        with (
            contextlib.redirect_stdout(said),
            mock.patch.object(self.screen, "_EVERY_SECONDS", 0.01),
            self.screen.patience(self.screen.console(), "building"),
        ):
            for _ in range(500):
                time.sleep(0.01)
                if said.getvalue():
                    break
        self.assertEqual(said.getvalue(), "building\n")
        with (
            contextlib.redirect_stdout(said),
            self.screen.patience(self.screen.console(), "soon done"),
        ):
            pass
        self.assertEqual(said.getvalue(), "building\n")


if __name__ == "__main__":
    unittest.main()
