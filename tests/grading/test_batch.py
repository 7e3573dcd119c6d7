# SPDX-License-Identifier: MIT
"""./lab grade from a folder to marks: statuses, points, cache, resumption, determinism."""

import contextlib
import csv
import html
import sqlite3
import unittest
from typing import Any

from classroom import PROJECT, Classroom, at_full_length, mutant, skeleton, solution, with_line

from grader.course.mutants import load
from grader.export import FORMATS
from grader.grade.database import NAME

MUTANT = "count_no_gpu_is_an_error"


def case_of(row: dict[str, Any], name: str) -> dict[str, Any]:
    return next(case for case in row["cases"] if case["case"] == name)


class Batch(Classroom):
    def class_of_eight(self) -> None:
        self.hand_in("good", "01", solution("01"))
        self.hand_in("same", "01", solution("01"))
        self.hand_in("empty", "01", skeleton("01"))
        self.hand_in("half", "01", mutant("01", MUTANT))
        self.hand_in("typo", "01", solution("01").replace("{", "{ oops", 1))
        self.hand_in("crash", "01", with_line("01", "inv_count", "abort();"))
        self.hand_in("hang", "01", with_line("01", "inv_count", "for (;;) pause();"))
        (self.folder / "class" / "absent").mkdir()

    def test_marks(self) -> None:
        self.class_of_eight()
        words = ("--seed", "7", "--export", "all", "--jplag")
        said = self.grade(self.folder / "class", *words)
        rows = self.rows()
        self.assertEqual(
            {student: row["status"] for student, row in rows.items()},
            {
                "absent": "nothing submitted",
                "crash": "partial",
                "empty": "not written",
                "good": "pass",
                "half": "partial",
                "hang": "partial",
                "same": "pass",
                "typo": "compile error",
            },
        )
        marks = {student: row["mark"] for student, row in rows.items()}
        self.assertEqual((marks["good"], marks["same"]), (100, 100))
        self.assertEqual((marks["empty"], marks["typo"], marks["absent"]), (0, 0, 0))
        for student in ("half", "crash", "hang"):
            self.assertTrue(0 < marks[student] < 100, student)
            self.assertEqual(marks[student], sum(case["points"] for case in rows[student]["cases"]))
        self.assertEqual(case_of(rows["crash"], "count")["status"], "crash")
        self.assertEqual(case_of(rows["hang"], "count")["status"], "timeout")
        self.assertIn("labs/01-enumerate/enumerate.c:", rows["typo"]["compiler"])
        self.assertIn("labs/01-enumerate/enumerate.c:", case_of(rows["empty"], "count")["message"])
        self.assertNotIn("/tmp", str([row["cases"] for row in rows.values()]))
        self.assertIn("8 submissions, 5 to grade", said)
        self.check_sheets()
        self.check_pages()
        self.check_exports()

    @at_full_length
    def test_a_lab_that_uses_another(self) -> None:
        """Lab 08 looks into lab 07's header: a skeleton's folder, never a solution's. (The solution
        itself is graded first, as always.)"""
        self.hand_in("half", "08", mutant("08", "gather_without_its_own"))
        self.grade(self.folder / "class", "--seed", "7")
        rows = self.rows()
        self.assertEqual(rows["half"]["status"], "partial")
        self.assertEqual(case_of(rows["half"], "gather")["status"], "fail")
        self.assertEqual(case_of(rows["half"], "fit")["status"], "pass")

    def check_pages(self) -> None:
        out = self.folder / "out"
        report = (out / "report.html").read_text(encoding="utf-8")
        self.assertIn("8 students, seed 7, labs: lab01", report)
        (mistake,) = [one for one in load(PROJECT, PROJECT.lab("01")) if one.name == MUTANT]
        self.assertIn(html.escape(mistake.why), report)
        typo = (out / "feedback" / "typo.md").read_text(encoding="utf-8")
        self.assertIn("{ oops", typo)
        half = (out / "feedback" / "half.html").read_text(encoding="utf-8")
        self.assertIn("hidden tests, details withheld", half)
        self.assertNotIn("hidden.", half)

    def check_exports(self) -> None:
        export = self.folder / "out" / "export"
        for name, form in FORMATS.items():
            files = sorted(path.parent.name for path in (export / name).glob(f"*/{form.file}"))
            self.assertEqual(files, sorted(self.rows()), name)
        jplag = self.folder / "out" / "jplag" / "lab01"
        self.assertEqual((jplag / "base" / "enumerate.c").read_text(), skeleton("01"))
        handed_in = {path.name for path in (jplag / "submissions").iterdir()}
        self.assertEqual(handed_in, {*self.rows(), "_published-solution"} - {"absent"})

    def check_sheets(self) -> None:
        with (self.folder / "out" / "marks.csv").open(encoding="utf-8", newline="") as file:
            marks = {row["student"]: row for row in csv.DictReader(file)}
        self.assertEqual(len(marks), 8)
        self.assertEqual(float(marks["good"]["total"]), 100)
        with (self.folder / "out" / "cases.csv").open(encoding="utf-8", newline="") as file:
            cases = list(csv.DictReader(file))
        points = [int(c["points"]) for c in cases if c["student"] == "good" and c["case"]]
        self.assertEqual(sum(points), 100)

    @at_full_length
    def test_the_same_twice(self) -> None:
        """With one job and with eight, from other folders, in another order."""
        self.class_of_eight()
        (self.folder / "class" / "hang" / "enumerate.c").unlink()  # it takes its time
        paths = sorted((self.folder / "class").iterdir())
        self.grade(*paths, "--labs", "1", "--seed", "7", "--jobs", "1", out="one")
        self.grade(*reversed(paths), "--labs", "1", "--seed", "7", "--jobs", "8", out="eight")
        one, eight = self.results("one"), self.results("eight")
        self.assert_same(one, eight)
        self.assertNotEqual(one["rows"][0]["times"], {})

    def test_only_what_is_new(self) -> None:
        self.hand_in("ada", "01", skeleton("01"))
        self.hand_in("bob", "01", solution("01"))
        self.grade(self.folder / "class")
        seed = self.results()["seed"]
        self.assertIn("2 submissions, 0 to grade", self.grade(self.folder / "class"))
        self.hand_in("ada", "01", solution("01"))
        old = self.folder / "old.json"
        old.write_bytes((self.folder / "out" / "results.json").read_bytes())
        said = self.grade(self.folder / "class", "--diff", old)
        self.assertIn("ada lab01: 0 (not written) -> 100 (pass)", said)
        self.assertIn("another file was handed in", said)
        self.assertNotIn("bob lab01", said)
        self.assertEqual(self.results()["seed"], seed)
        with contextlib.closing(sqlite3.connect(self.folder / "out" / NAME)) as base, base:
            base.execute("UPDATE runs SET run = run || ' ' WHERE submission = 'lab01/ada'")
        said = self.grade(self.folder / "class")
        self.assertIn("1 results were damaged on the disk; they are graded again", said)
        self.assertEqual({row["mark"] for row in self.rows().values()}, {100})
        said = self.grade(self.folder / "class", "--regrade", "--only", "ada")
        self.assertIn("2 submissions, 1 to grade", said)
        self.assertIn("no student is called", self.grade(self.folder, "--only", "eve", status=6))

    def marks(self) -> dict[tuple[str, str], float]:
        return {(r["student"], r["lab"]): r["mark"] for r in self.results()["rows"]}

    def test_only_what_was_handed_in_counts(self) -> None:
        self.hand_in("ada", "01", solution("01"))
        self.hand_in("ada", "02", skeleton("02"))
        self.hand_in("bob", "02", solution("02"))
        (self.folder / "class.csv").write_text("student,name\nada,Ada\nbob,Bob\ncyd,Cyd\n")
        words = [self.folder / "class", "--students", self.folder / "class.csv"]
        said = self.grade(*words)
        given = {("ada", "lab01"): 100, ("ada", "lab02"): 0, ("bob", "lab02"): 100}
        self.assertEqual(self.marks(), given)
        self.assertIn("3 submissions, ", said)
        self.assertIn("total", said)
        self.assertIn("lab01: handed in by 1 of 3, 1 marks, mean 100", said)
        handed_in = {one["student"]: one["handed_in"] for one in self.results()["students"]}
        self.assertEqual(handed_in, {"ada": ["lab01", "lab02"], "bob": ["lab02"], "cyd": []})
        feedback = self.folder / "out" / "feedback"
        self.assertNotIn("nothing submitted", (feedback / "bob.md").read_text())
        self.assertIn("Nothing was handed in", (feedback / "cyd.md").read_text())
        page = (self.folder / "out" / "report.html").read_text()
        self.assertIn("Of 3 students, lab01 by 1, lab02 by 2.", page)

        self.grade(*words, "--labs", "1,2")  # they were set: who has none of them has 0
        zeros = {("bob", "lab01"): 0, ("cyd", "lab01"): 0, ("cyd", "lab02"): 0}
        self.assertEqual(self.marks(), given | zeros)

    def test_late_and_questions(self) -> None:
        for student in ("ada", "bob", "cyd"):
            self.hand_in(student, "01", solution("01"))
        (self.folder / "times.csv").write_text(
            "student,submitted\nada,2026-11-20T11:00Z\nbob,2026-11-21T13:00Z\ncyd,2026-11-21T13:00Z\n"
        )
        (self.folder / "more.csv").write_text("student,until\ncyd,2026-11-22T12:00Z\n")
        (self.folder / "words.csv").write_text("student,lab,points,comment\nada,1,7.5,well said\n")
        words = ["--deadline", "2026-11-20T12:00Z", "--late", "10", "--times", "times.csv"]
        words += ["--extensions", "more.csv", "--questions", "words.csv"]
        words = [str(self.folder / w) if w.endswith(".csv") else w for w in words]
        said = self.grade(self.folder / "class", *words)
        marks = {student: row["mark"] for student, row in self.rows().items()}
        self.assertEqual(marks, {"ada": 107.5, "bob": 80, "cyd": 100})
        self.assertIn("2 d late", said)

    def test_a_class_list(self) -> None:
        self.hand_in("12", "01", skeleton("01"))
        (self.folder / "list.csv").write_text("student,name,match\nada,Ada L,12\nbob,Bob,13\n")
        self.grade(self.folder / "class", "--students", self.folder / "list.csv")
        rows = self.rows()
        self.assertEqual(
            {s: (r["name"], r["status"]) for s, r in rows.items()},
            {"ada": ("Ada L", "not written"), "bob": ("Bob", "nothing submitted")},
        )


if __name__ == "__main__":
    unittest.main()
