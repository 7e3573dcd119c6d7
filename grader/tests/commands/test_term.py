# SPDX-License-Identifier: MIT
"""A whole term through `./lab grade`, with a worker that needs no build: deadlines, slip days,
groups, extensions, a late joiner, a withdrawal, a mended test, a request, feedback that waits."""

import contextlib
import csv
import dataclasses
import io
import json
import os
from pathlib import Path
from typing import Any
from unittest import mock

from grader.base.exits import ExitStatus, LabError
from grader.building.install import own_packages
from grader.course.project import Lab, here
from grader.grade import course, rubric
from grader.grade.course import Course, GradedLab
from grader.grade.late import when
from grader.grade.model import CaseRun, Run, Status, Submission
from grader.tests.fake import README, RUBRIC, SKELETON, SOLUTION, FakeCheckout, with_charts

TERM = """\
late = 10
slip_days = 3
slip_days_a_lab = 2
feedback = "after deadline"
students = "roster.csv"
extensions = "extensions.csv"
groups = "groups.csv"
withdrawn = "withdrawn.csv"
requests = "requests.csv"

[labs.01]
deadline = 2026-10-09T12:00:00Z
[labs.02]
deadline = 2026-10-23T12:00:00Z
feedback = "at once"
"""
TABLES = {
    "roster": "student,name,joined,canvas_id\nada,Ada,,4711\nbob,Bob,\ncyd,Cyd,\ndan,Dan,\n"
    "eve,Eve,2026-10-12T00:00Z\n",
    "extensions": "student,until,lab\n",
    "groups": "student,partner,lab\nada,bob,1\n",
    "withdrawn": "student,lab,why\n",
    "requests": "student,lab,asked,why,answer\n",
}
GOOD = SOLUTION
WRONG = SOLUTION.replace("return 2 * n;", "return 3 * n; // fails again")


class Worker:
    """Fails each case that the file says it fails; a mended course has another idea of `again`."""

    def __init__(self) -> None:
        self.mended = False
        self.graded: list[str] = []

    def grade(self, lab: GradedLab, submission: Submission, *, alone: bool = False) -> Run:
        self.graded.append(submission.key)
        text = (submission.contents or b"").decode()
        failed = {rule.case for rule in lab.rubric.rules if f"fails {rule.case}" in text}
        if self.mended:
            failed = failed - {"again"} | ({"whole"} if "shortcut" in text else set())
        return Run(
            cases=tuple(
                CaseRun(rule.case, Status.FAIL if rule.case in failed else Status.PASS)
                for rule in lab.rubric.rules
            )
        )


@with_charts
class Term(FakeCheckout):
    def setUp(self) -> None:
        super().setUp()
        own_packages(here())
        try:
            from grader.commands import grade as command
        except LabError as error:
            self.skipTest(str(error))
        self.command, self.worker = command, Worker()
        for name, text in (
            ("other.c", SOLUTION.replace("tiny", "other")),
            ("README.md", README.replace("01", "02")),
            ("tests/rubric.json", RUBRIC.replace("lab01", "lab02")),
        ):
            self.write(f"solutions/02-other/{name}", text)
        self.write("course.toml", TERM)
        for name, text in TABLES.items():
            self.write(f"{name}.csv", text)
        for name, stand_in in (
            (
                "prepare",
                lambda project, labs, scratch: Course(
                    project, scratch, {"course": "v1", "compiler": "cc"}
                ),
            ),
            ("graded_lab", self.graded_lab),
        ):
            self.enterContext(mock.patch.object(course, name, stand_in))
        self.enterContext(mock.patch.object(command.work, "worker", lambda *_: self.worker))
        self.enterContext(mock.patch.dict(os.environ))

    def graded_lab(self, _: Course, lab: Lab, file: str, own: Path | None) -> GradedLab:
        rules = rubric.load(self.project, lab, own)
        mended = f"{lab.name} mended {self.worker.mended}"
        return GradedLab(lab, file, rules, (1,), mended, skeleton=SKELETON)

    # ---- students' and instructors' actions ----

    def hand_in(self, student: str, lab: str, text: str, at: str) -> None:
        name = {"01": "labs/01-tiny/tiny.c", "02": "labs/02-other/other.c"}[lab]
        path = self.write(f"class/{student}/{name}", text)
        os.utime(path, (when(at), when(at)))

    def line(self, table: str, line: str) -> None:
        with (self.root / f"{table}.csv").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def grade(self, *words: str, now: str = "2026-12-31T00:00Z") -> str:
        from grader.commands.cli import parser

        common = ["--course", str(self.root / "course.toml"), "--out", str(self.root / "marks")]
        common += ["--unsafe-no-sandbox", "--no-build", "--now", now, "--jobs", "1"]
        args = parser().parse_args(["grade", str(self.root / "class"), *common, *words])
        said = io.StringIO()
        self.worker.graded.clear()
        with contextlib.redirect_stdout(said):
            self.assertEqual(self.command.grade(self.project, args), ExitStatus.OK)
        return said.getvalue()

    def row(self, student: str, lab: str) -> dict[str, Any]:
        rows = json.loads(self.read("marks/results.json"))["rows"]
        return next(one for one in rows if (one["student"], one["lab"]) == (student, lab))

    def mark(self, student: str, lab: str = "lab01") -> float:
        return self.row(student, lab)["mark"]

    def rows_of(self, student: str) -> list[str]:
        rows = json.loads(self.read("marks/results.json"))["rows"]
        return [one["lab"] for one in rows if one["student"] == student]

    # ---- the term ----

    def test_a_term(self) -> None:
        self.first_lab()
        self.late_joiner_and_withdrawal()
        self.a_test_is_mended()
        self.a_request()
        self.one_file_of_a_group_is_compared()
        self.second_lab()

    def first_lab(self) -> None:
        self.hand_in("ada", "01", GOOD, "2026-10-09T11:00Z")
        self.hand_in("cyd", "01", WRONG, "2026-10-12T11:00Z")
        self.hand_in("dan", "01", GOOD.replace("2 * n", "n + n"), "2026-10-08T11:00Z")
        canvas = ("--labs", "1", "--export", "canvas")
        said = self.grade(*canvas, now="2026-10-09T11:59Z")
        self.assertIn("lab01: feedback is held back until 2026-10-09 12:00 UTC (students: 4)", said)
        self.assertIn(
            "Handed in. Mark and feedback are shown from", self.read("marks/feedback/ada.md")
        )
        self.assertNotIn("points", self.read("marks/feedback/ada.md"))
        withheld = json.loads(self.read("marks/withheld.json"))
        students = ("ada", "bob", "cyd", "dan")
        self.assertEqual(withheld, {"lab01": dict.fromkeys(students, when("2026-10-09T12:00Z"))})
        self.assertEqual(self.read("marks/export/canvas/lab01.csv").count("\n"), 2, "no marks yet")
        said = self.grade(*canvas)
        self.assertEqual(json.loads(self.read("marks/withheld.json")), {"lab01": {}})
        self.assertIn("Ada,4711,,ada,,100\n", self.read("marks/export/canvas/lab01.csv"))
        self.assertNotIn("held back", said)
        self.assertEqual(self.worker.graded, [])
        self.assertIn("100 of 100 points", self.read("marks/feedback/ada.md"))
        self.assertEqual((self.mark("ada"), self.mark("bob")), (100, 100))
        group = {"partner": "ada", "handed_in_by": "ada"}
        self.assertEqual(self.row("bob", "lab01")["group"], group)
        self.assertIn("handed in by ada for the group", self.read("marks/feedback/bob.md"))
        late = self.row("cyd", "lab01")["late"]
        self.assertEqual((late["days"], late["slip"], self.mark("cyd")), (3, 2, 72))

    def late_joiner_and_withdrawal(self) -> None:
        self.assertEqual(self.rows_of("eve"), [])
        self.line("withdrawn", "dan,1,by mistake")
        self.grade("--labs", "1")
        self.assertEqual(self.row("dan", "lab01")["status"], "nothing submitted")
        self.assertIn("withdrawn: by mistake", self.read("marks/feedback/dan.md"))
        self.line("extensions", "cyd,2026-10-12T12:00Z,1")
        self.grade("--labs", "1")
        self.assertEqual((self.row("cyd", "lab01")["late"]["days"], self.mark("cyd")), (0, 80))

    def a_test_is_mended(self) -> None:
        self.hand_in("ada", "01", GOOD + "// shortcut\n", "2026-10-09T11:30Z")
        self.grade("--labs", "1")
        published = self.read("marks/marks.csv")
        self.worker.mended = True
        said = self.grade("--labs", "1", "--preview")
        self.assertIn("higher: 1, lower: 2, unchanged: 1", said)
        self.assertEqual(self.read("marks/marks.csv"), published)
        lines = list(csv.DictReader(io.StringIO(self.read("marks/preview.csv"))))
        self.assertEqual(
            [(one["student"], one["before"], one["after"], one["change"]) for one in lines],
            [
                ("ada", "100.0", "85.0", "-15.0"),
                ("bob", "100.0", "85.0", "-15.0"),
                ("cyd", "80.0", "100.0", "20.0"),
            ],
        )
        self.assertIn("again: fail (0) -> pass (20 of 20)", lines[2]["why"])
        self.grade("--labs", "1")
        self.assertEqual(self.worker.graded, [])
        self.assertEqual((self.mark("cyd"), self.mark("bob")), (100, 85))
        tries = self.row("ada", "lab01")["attempts"]
        self.assertEqual([one["submitted"][11:16] for one in tries], ["11:00", "11:30"])
        self.assertEqual([one["points"] for one in tries], [100, 85])
        self.assertIn(
            "Time between two files that a student handed in (2)", self.read("marks/report.html")
        )

    def a_request(self) -> None:
        self.line("requests", "cyd,1,2099-01-01T00:00Z,task 1 is right,it was and stays so")
        said = self.grade("--labs", "1")
        self.assertEqual(self.worker.graded, ["lab01/cyd"])
        self.assertRegex(said, r"cyd +lab01 +2099-01-01 +100 +100 +\+0 +task 1 is right")
        self.assertIn("to be graded again (task 1 is right)", self.read("marks/feedback/cyd.md"))
        self.assertIn("Answer: it was and stays so", self.read("marks/feedback/cyd.md"))
        asked = "cyd,1,2026-10-20T00:00Z,,\neve,1,2026-10-20T00:00Z,,\n"
        self.write("requests.csv", TABLES["requests"] + asked)
        said = self.grade("--labs", "1")
        self.assertIn("eve asks for lab01, and has handed in nothing of it", said)
        self.assertEqual(self.worker.graded, [])

    def one_file_of_a_group_is_compared(self) -> None:
        self.grade("--labs", "1", "--jplag")
        folder = self.root / "marks" / "jplag" / "lab01"
        names = {path.name for path in (folder / "submissions").iterdir()}
        self.assertEqual(names, {"ada", "cyd", "_published-solution"})
        students = json.loads(self.read("marks/jplag/students.json"))
        self.assertEqual(students, {"ada": "ada with bob", "cyd": "cyd"})
        published = self.read("marks/jplag/lab01/submissions/_published-solution/tiny.c")
        self.assertNotIn("STUB", published)
        self.assertIn("return 2 * n;", published)
        self.assertIn("--mode run", self.read("marks/jplag/lab01/run.sh"))

    def second_lab(self) -> None:
        """Eve is there; Bob works alone; Cyd has her slip days, since lab 01 cost her none."""
        self.hand_in("ada", "02", WRONG.replace("tiny", "other"), "2026-10-20T11:00Z")
        self.hand_in("cyd", "02", GOOD.replace("tiny", "other"), "2026-10-26T11:00Z")
        self.hand_in("eve", "02", GOOD.replace("tiny", "other"), "2026-10-23T11:00Z")
        self.grade("--labs", "1-2", now="2026-10-22T00:00Z")
        self.assertEqual(self.rows_of("eve"), ["lab02"])
        self.assertEqual(self.row("bob", "lab02")["status"], "nothing submitted")
        self.assertIsNone(self.row("bob", "lab02")["group"])
        self.assertEqual(self.row("dan", "lab02")["late"]["days"], 0)  # his folder is late
        late = self.row("cyd", "lab02")["late"]
        self.assertEqual((late["days"], late["slip"]), (3, 2))
        self.assertEqual(self.row("ada", "lab01")["late"]["days"], 0)  # the folder's time is newer
        self.assertIn("Lab 02", self.read("marks/feedback/ada.md"))

    def test_what_is_wrong_is_said_with_its_line(self) -> None:
        self.hand_in("ada", "01", GOOD, "2026-10-09T11:00Z")
        self.grade("--labs", "1")
        whole = {path: path.read_bytes() for path in (self.root / "marks").rglob("*.*")}
        for table, text, says in (
            (
                "course.toml",
                TERM.replace("late = 10", "late = 101"),
                r"line 1: late = 101; it is a",
            ),
            ("course.toml", TERM.replace("10", '"10"', 1), "line 1: late = '10'; it is a number"),
            ("course.toml", TERM.replace("days = 3", "days = -3"), "line 2: slip_days = -3; it is"),
            ("course.toml", TERM.replace("3\n", "2.5\n", 1), "line 2: slip_days = 2.5"),
            (
                "course.toml",
                TERM.replace("-10-09", "-13-09"),
                "line 12: 'deadline = 2026-13-09T.*' cannot be read",
            ),
            (
                "course.toml",
                TERM.replace("T12:00:00Z", "", 1),
                "line 12: deadline: '2026-10-09' is",
            ),
            ("course.toml", TERM.replace("[labs.01]", "[labs.9]"), "line 11: there is no lab '9'"),
            ("course.toml", TERM.replace('"at once"', '"soon"'), "line 15: feedback = 'soon'"),
            ("course.toml", TERM.replace("deadline =", "due =", 1), "line 12: due = .*a lab has"),
            (
                "course.toml",
                TERM.replace("groups.csv", "group.csv"),
                "line 7: groups = 'group.csv'",
            ),
            (
                "course.toml",
                TERM.replace("slip_days =", "slips ="),
                "line 2: slips = 3 is not a setting",
            ),
            (
                "extensions.csv",
                "student,until,lab\nada,soon,1\n",
                "line 2: until: 'soon' is not a time",
            ),
            ("extensions.csv", "student,until\nadda,2099-01-01T00:00\n", "is it 'ada'"),
            ("extensions.csv", "student,until,lab\nada,2099-01-01T00:00,17\n", "no lab '17'"),
            (
                "extensions.csv",
                "student,until\n" + 2 * "ada,2099-01-01T00:00\n",
                "another extension",
            ),
            ("extensions.csv", "student,until\nada,2099-01-01T00:00,1,1\n", "4 fields under 2"),
            (
                "extensions.csv",
                "student,until,lab\nada,2026-10-01T00:00Z,1\n",
                "before the deadline",
            ),
            ("extensions.csv", "student,until,labs\nada,2099-10-01T00:00Z,1\n", "is it 'lab'"),
            ("roster.csv", "student\nada\nada\n", "line 3: 'ada' stands in line 2, too"),
            ("groups.csv", "student,partner\nada,ada\n", "line 2: a group is two students"),
            (
                "groups.csv",
                "student,partner\nada,bob\nbob,cyd\n",
                "line 3: 'bob' has another group",
            ),
            (
                "groups.csv",
                "student,partner\nada,bobb\n",
                "line 2: 'bobb' is not a student of the class",
            ),
            ("withdrawn.csv", "student,lab\n,1\n", "line 2: no student stands there"),
            (
                "requests.csv",
                "student,lab,asked\nada,,2099-01-01T00:00\n",
                "line 2: it names no lab",
            ),
            (
                "roster.csv",
                "student,joined\nada,monday\n",
                "line 2: joined: 'monday' is not a time",
            ),
        ):
            before = self.read(table)
            self.write(table, text)
            with self.subTest(text), self.assertRaisesRegex(LabError, says) as caught:
                self.grade("--labs", "1")
            self.assertIn("what was graded before stays", str(caught.exception))
            self.write(table, before)
        self.assertEqual(whole, {path: path.read_bytes() for path in whole})

    def test_typed_numbers(self) -> None:
        self.hand_in("ada", "01", GOOD, "2026-10-09T11:00Z")
        for words in (("--late", "-5"), ("--late-cap", "200"), ("--grace", "-1")):
            with self.assertRaisesRegex(LabError, f"{words[0]} {words[1]}: it is a number"):
                self.grade(*words)
        with self.assertRaisesRegex(LabError, "grade once without --preview"):
            self.grade("--preview")

    def test_without_a_roster_unknown_names_are_told(self) -> None:
        self.hand_in("ada", "01", GOOD, "2026-10-09T11:00Z")
        self.write("course.toml", TERM.replace('students = "roster.csv"\n', ""))
        self.line("extensions", "adda,2099-01-01T00:00Z,")
        self.assertIn("'adda' has handed in nothing; is it 'ada'", self.grade())


class Groups(FakeCheckout):
    def test_a_line_for_one_lab_counts_first(self) -> None:
        from grader.grade.groups import partner

        groups = {
            ("ada", ""): "bob",
            ("bob", ""): "ada",
            ("ada", "03"): "cyd",
            ("cyd", "03"): "ada",
        }
        self.assertEqual(partner(groups, "ada", "01"), "bob")
        self.assertEqual(
            [partner(groups, one, "03") for one in ("ada", "bob", "cyd")], ["cyd", "", "ada"]
        )

    def test_the_later_file_counts_for_both(self) -> None:
        from grader.grade.groups import shared

        one = Submission("ada", "", self.lab, "tiny.c", b"1", submitted=1.0)
        two = Submission("bob", "", self.lab, "tiny.c", b"2", submitted=2.0)
        groups = {("ada", ""): "bob", ("bob", ""): "ada"}
        first, second = shared([one, two], groups)
        self.assertEqual((first.contents, second.contents), (b"2", b"2"))
        self.assertIn("the file of ada is the older one", first.notes[0])
        self.assertEqual(second.notes, ())
        (alone,) = shared([dataclasses.replace(one, student="cyd")], groups)
        self.assertEqual(alone.partner, "")
