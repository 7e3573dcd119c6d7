# SPDX-License-Identifier: MIT
"""Two labs of a term: deadlines of course.toml, slip days, an extension, times for one lab."""

import unittest

from classroom import Classroom, skeleton, solution

TERM = """
late = 10
slip_days = 3
slip_days_a_lab = 2
[labs.01]
deadline = 2026-11-20T12:00:00Z
[labs.02]
deadline = 2026-11-27T12:00:00Z
"""
TIMES = """student,submitted,lab
ada,2026-11-23T11:00Z,1
ada,2026-11-29T11:00Z,2
ben,2026-11-23T11:00Z,
"""
EXTENSIONS = """student,until,lab
ben,2026-11-23T12:00Z,1
"""


class Term(Classroom):
    def test_slip_days_are_spent_on_the_first_deadline_first(self) -> None:
        for name, text in (
            ("course.toml", TERM),
            ("times.csv", TIMES),
            ("extensions.csv", EXTENSIONS),
        ):
            (self.folder / name).write_text(text, encoding="utf-8")
        self.hand_in("ada", "01", solution("01"))
        self.hand_in("ada", "02", skeleton("02"))
        self.hand_in("ben", "01", solution("01"))
        words = [
            word
            for option in ("course.toml", "times.csv", "extensions.csv")
            for word in (f"--{option.partition('.')[0]}", self.folder / option)
        ]
        self.grade(self.folder / "class", "--seed", "1", *words)
        late = {
            (row["student"], row["lab"]): (row["late"], row["mark"])
            for row in self.results()["rows"]
        }
        first, mark = late["ada", "lab01"]
        self.assertEqual((first["days"], first["slip"], mark), (3, 2, 90))
        self.assertEqual(late["ada", "lab02"][0]["slip"], 1)
        self.assertEqual((late["ben", "lab01"][0]["days"], late["ben", "lab01"][1]), (0, 100))
        (said,) = (self.folder / "out" / "feedback").glob("ada*.md")
        self.assertIn(
            "3 days late, 2 of them slip days: 10 of 100 points off.",
            said.read_text(encoding="utf-8"),
        )
        self.preview(words)

    def preview(self, words: list[object]) -> None:
        """A test loses its points: who loses is told, and nothing is published or run."""
        rubric = self.folder / "own.toml"
        rubric.write_text("[lab01.device]\npoints = 0\n", encoding="utf-8")
        before = (self.folder / "out" / "marks.csv").read_bytes()
        more = (*words, "--rubric", rubric, "--preview")
        said = self.grade(self.folder / "class", *more)
        self.assertIn("3 submissions, 0 to grade", said)
        self.assertRegex(said, r"ben +lab01 +100 +9\d +-\d")
        self.assertIn("higher: 0, lower: 2, unchanged: 1", said)
        self.assertEqual(before, (self.folder / "out" / "marks.csv").read_bytes())


if __name__ == "__main__":
    unittest.main()
