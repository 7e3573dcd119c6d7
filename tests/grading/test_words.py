# SPDX-License-Identifier: MIT
"""./lab grade wrongly asked: each mistake in a CSV, a rubric or an option is named before anybody
is graded."""

import unittest

from classroom import Classroom, solution

from grader.grade.journal import opened


class Words(Classroom):
    def setUp(self) -> None:
        super().setUp()
        self.hand_in("ada", "01", solution("01"))

    def refused(self, why: str, *words: object, status: int = 2) -> None:
        said = self.grade(self.folder / "class", *words, status=status)
        self.assertIn(why, said)
        self.assertNotIn("Traceback", said)
        self.assertFalse((self.folder / "out" / "results.json").exists())

    def table(self, text: str) -> str:
        path = self.folder / "table.csv"
        path.write_text(text)
        return str(path)

    def test_tables(self) -> None:
        words = self.table("student,lab,points\nada,1,many\n")
        self.refused("'many' is not a number", "--questions", words)
        words = self.table("student,lab,points\nada,1,NaN\n")
        self.refused("'NaN' is not a number", "--questions", words)
        words = self.table("who,until\nada,2026-01-01\n")
        self.refused("has no column student", "--extensions", words)
        words = self.table("student,until\nada,soon\n")
        self.refused("'soon' is not a time", "--extensions", words)
        self.refused("No such file", "--students", "/nowhere.csv")

    def test_options(self) -> None:
        self.refused("is not a time", "--deadline", "tomorrow")
        self.refused("known are gradescope", "--export", "xlsx")
        self.refused("has no group", "--pattern", ".*")
        self.refused("There is no lab '77'", "--labs", "77", status=6)
        self.refused("cannot be read as results", "--diff", "/nowhere.json")
        rubric = self.folder / "own.toml"
        rubric.write_text("[lab01.nothing]\npoints = 1\n")
        self.refused("no case 'nothing'", "--rubric", rubric)

    def test_two_graders(self) -> None:
        """The second is told to wait; it neither waits nor writes."""

        with opened(self.folder / "out"):
            self.refused("Another ./lab grade")

    def test_nothing_of_a_lab(self) -> None:
        (self.folder / "empty" / "bob").mkdir(parents=True)
        said = self.grade(self.folder / "empty", status=6)
        self.assertIn("no lab's file among them", said)
        self.grade(self.folder / "empty", "--labs", "1")
        self.assertEqual(self.rows()["bob"]["status"], "nothing submitted")


if __name__ == "__main__":
    unittest.main()
