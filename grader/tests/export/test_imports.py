# SPDX-License-Identifier: MIT
"""grader.export.imports: each file by the column rules of the gradebook that reads it."""

import csv
import io
import tempfile
import unittest
from pathlib import Path
from typing import Any

from grader.export import imports
from grader.grade.layouts import Row
from grader.tests.export.test_export import row

Json = dict[str, Any]
LAB = {"lab": "lab01", "title": "enumerate", "points": 100}
LATE = {"days": 2, "percent": 20, "points": 15.5, "slip": 0}
ROSTER = {
    "ada": {"email": "ada@x.example", "username": "ada1", "idnumber": "S1", "usr_id": "271"},
    "7": {"email": "b@x.example", "canvas_id": "", "login": "bob", "usr_id": "272"},
}
ROWS = [
    row(mark=100.0, student="ada", name="Lovelace, Ada \u00e9", status="pass"),
    row(mark=62.25, student="7", name="Bob", late=LATE),
    row(mark=0.0, student="=cmd()", name="=cmd()|x", status="nothing submitted"),
    row(mark=None, student="cyd", name="Cyd", status="infrastructure error"),
    row(mark=50.0, student="dan", name="Dan"),
]


class Imported:
    """What holds for all: who has no mark, or a withheld one, has no line; no field is a formula.
    `lines` is the file as a reader of CSV has it."""

    form = ""

    def setUp(self) -> None:
        roster = {key: Row(Path("r"), 1, cells) for key, cells in ROSTER.items()}
        results = {"labs": [LAB], "rows": ROWS}
        with tempfile.TemporaryDirectory() as folder:
            held = {("dan", "lab01")}
            imports.write(results, [self.form, "junit"], Path(folder), roster, held)
            (path,) = Path(folder).rglob("*.*")
            self.assertEqual(path.relative_to(folder), Path(self.form, "lab01.csv"))
            self.data = path.read_bytes()
        self.lines = list(csv.reader(io.StringIO(self.data.decode("utf-8"), newline="")))

    def column(self, head: str) -> list[str]:
        return [line[self.lines[0].index(head)] for line in self.lines[1:]]

    def test_only_what_is_published(self) -> None:
        text = self.data.decode()
        self.assertNotIn("cyd", text)
        self.assertNotIn("dan", text)

    def test_utf_8_commas_and_lines_of_one_length(self) -> None:
        self.assertFalse(self.data.startswith(b"\xef\xbb\xbf"))
        self.assertTrue(self.data.endswith(b"\r\n"))
        self.assertEqual(len({len(line) for line in self.lines}), 1)

    def test_no_formula(self) -> None:
        for line in self.lines:
            for field in line:
                self.assertNotRegex(field, r"^[=+@|-]")

    def test_decimals_have_a_point(self) -> None:
        self.assertIn("62.25", self.data.decode())


class Moodle(Imported, unittest.TestCase):
    """grade/import/csv/classes/load_data.php: a user is found by id, idnumber, e-mail address or
    user name; one that is not ends the import; a grade that is no number does, too."""

    form = "moodle"

    def test_columns(self) -> None:
        head = ["ID number", "lab01 enumerate", "lab01 enumerate (feedback)"]
        self.assertEqual(self.lines[0], head, "e-mail addresses and user names are not everybody's")
        self.assertEqual(self.column("ID number")[:2], ["S1", "7"])

    def test_a_key_that_all_have_is_there(self) -> None:
        marks = [imports.Mark(ROWS[0], ROSTER["ada"])]
        head = imports.moodle(LAB, marks).split("\r\n")[0].split(",")
        self.assertEqual(head[:3], ["Username", "ID number", "Email address"])

    def test_grades_are_numbers_and_feedback_is_ours(self) -> None:
        self.assertEqual([float(one) for one in self.column("lab01 enumerate")], [100, 62.25, 0])
        said = ["pass", "partial, 2 days late: 15.5 points off", "nothing submitted"]
        self.assertEqual(self.column("lab01 enumerate (feedback)"), said)


class Canvas(Imported, unittest.TestCase):
    """lib/gradebook_importer.rb: the first column has "Student", the second "ID"; the one before
    the assignments "Section"; SIS User ID and SIS Login ID stand side by side before it."""

    form = "canvas"

    def test_columns(self) -> None:
        head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "lab01 enumerate"]
        self.assertEqual(self.lines[0], head)

    def test_points_possible_are_the_second_line(self) -> None:
        self.assertEqual(self.lines[1], ["Points Possible", "", "", "", "", "100"])

    def test_students(self) -> None:
        self.assertEqual(self.lines[2], ["Lovelace, Ada \u00e9", "", "", "ada", "", "100"])
        self.assertEqual(self.lines[3], ["Bob", "7", "", "7", "", "62.25"])


class Blackboard(Imported, unittest.TestCase):
    """Blackboard's help, "Uploading or Downloading Grade Center Items for Working Offline": a
    heading, then a line a student; fields of files with commas are in quotes; the user name is
    what a student is known by."""

    form = "blackboard"

    def test_columns(self) -> None:
        self.assertEqual(self.lines[0], ["Username", "lab01 enumerate"])
        self.assertEqual(self.lines[1:3], [["ada1", "100"], ["7", "62.25"]])

    def test_every_field_is_in_quotes(self) -> None:
        for line in self.data.decode().split("\r\n")[:-1]:
            self.assertRegex(line, r'^"[^"]*","[^"]*"$')


class Ilias(Imported, unittest.TestCase):
    """ExerciseStatusFile, ilPluginExAssignmentStatusFile: eleven titles, read in this order; lines
    with update 1 and a usr_id are taken; a status is notgraded, passed or failed."""

    form = "ilias"

    def test_columns(self) -> None:
        head = "update,usr_id,login,lastname,firstname,status,mark,notice,comment"
        self.assertEqual(",".join(self.lines[0]), f"{head},plagiarism,plag_comment")

    def test_students_that_ilias_knows(self) -> None:
        self.assertEqual(self.column("usr_id"), ["271", "272"])
        self.assertEqual(self.column("update"), ["1", "1"])
        self.assertEqual(self.column("login"), ["ada", "bob"])
        self.assertEqual(self.column("status"), ["notgraded", "notgraded"])
        self.assertEqual(self.column("mark"), ["100", "62.25"])


if __name__ == "__main__":
    unittest.main()
