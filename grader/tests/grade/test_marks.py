# SPDX-License-Identifier: MIT
"""grader.grade.rubric, marks and late: what a case is worth, and when."""

import json
import unittest
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from grader.base.exits import LabError
from grader.course.grave import CAP
from grader.grade.late import LatePolicy, deduction, when
from grader.grade.marks import Graded, capped, judge, rounded
from grader.grade.model import CaseRun, Run, Status, Submission
from grader.grade.rubric import Rubric, load
from grader.grade.term import grave_cap, policy, read, read_tables
from grader.tests.fake import FakeCheckout

CASES = [
    {"case": "one", "todo": 1, "points": 50},
    {"case": "two", "todo": 2, "points": 30},
    {"case": "hidden.three", "todo": 2, "points": 20},
]


class Marks(FakeCheckout):
    def setUp(self) -> None:
        super().setUp()
        self.write("solutions/01-tiny/tests/rubric.json", json.dumps({"cases": CASES}))

    def rubric(self, own: str = "") -> Rubric:
        path = self.write("own.toml", own) if own else None
        return load(self.project, self.lab, path)

    def judged(self, rubric: Rubric, *statuses: Status, **more: object) -> Graded:
        submission = Submission("ada", "", self.lab, "tiny.c", b"x")
        cases = tuple(
            CaseRun(case["case"], status) for case, status in zip(CASES, statuses, strict=False)
        )
        return judge(replace(submission, **more), Run(cases=cases), rubric)

    def test_points(self) -> None:
        rubric = self.rubric()
        every = self.judged(rubric, Status.PASS, Status.PASS, Status.PASS)
        self.assertEqual((every.points, every.status, every.possible), (100, Status.PASS, 100))
        some = self.judged(rubric, Status.FAIL, Status.PASS, Status.CRASH)
        self.assertEqual((some.points, some.status), (30, Status.PARTIAL))
        none = self.judged(rubric, *[Status.NOT_WRITTEN] * 3)
        self.assertEqual((none.points, none.status), (0, Status.NOT_WRITTEN))
        none = self.judged(rubric, Status.CRASH, Status.FAIL, Status.CRASH)
        self.assertEqual((none.points, none.status), (0, Status.FAIL))
        none = self.judged(rubric, *[Status.TIMEOUT] * 3)
        self.assertEqual((none.points, none.status), (0, Status.TIMEOUT))

    def test_our_errors_are_no_marks(self) -> None:
        rubric = self.rubric()
        missing = self.judged(rubric, Status.PASS, Status.PASS)
        self.assertEqual((missing.points, missing.status), (None, Status.INFRASTRUCTURE))
        ours = self.judged(rubric, Status.PASS, Status.PASS, Status.INFRASTRUCTURE)
        self.assertIsNone(ours.points)
        submission = Submission("ada", "", self.lab, "tiny.c", b"x")
        self.assertIsNone(judge(submission, Run(broken="disk full"), rubric).points)
        self.assertIsNone(judge(submission, None, rubric).points)

    def test_theirs_are_zeros(self) -> None:
        rubric = self.rubric()
        rejected = self.judged(rubric, problem="it climbs")
        self.assertEqual((rejected.points, rejected.status), (0, Status.REJECTED))
        missing = self.judged(rubric, contents=None)
        self.assertEqual((missing.points, missing.status), (0, Status.MISSING))
        submission = Submission("ada", "", self.lab, "tiny.c", b"x")
        wrong = judge(submission, Run(compiled=False), rubric)
        self.assertEqual((wrong.points, wrong.status), (0, Status.COMPILE_ERROR))

    def test_dependencies(self) -> None:
        rubric = self.rubric(
            '[lab01.one]\ndepends = ["two"]\n[lab01."hidden.three"]\ndepends = []\n'
        )
        self.assertEqual([rule.case for rule in rubric.rules], ["two", "one", "hidden.three"])
        graded = self.judged(rubric, Status.PASS, Status.FAIL, Status.PASS)
        self.assertEqual(graded.points, 20)
        self.assertEqual(graded.cases[1].run.status, Status.NOT_RUN)
        self.assertEqual(graded.cases[1].run.message, "two must pass first")

    def test_what_must_hold_is_told_of_what_was_not_run(self) -> None:
        rubric = self.rubric('[lab01.one]\ndepends = ["two"]\n')
        submission = Submission("ada", "", self.lab, "tiny.c", b"x")
        runs = [CaseRun(case["case"], Status.FAIL, f"about {case['case']}") for case in CASES]
        graded = judge(submission, Run(cases=tuple(runs)), rubric)
        titles = {case.rule.case: case.run.title for case in graded.cases}
        self.assertEqual(titles, {run.case: run.title for run in runs})

    def test_the_first_test_opens_the_others(self) -> None:
        """Those of its task, unless something else is said: "two" is TODO(2)'s first."""
        opened = self.rubric()
        self.assertEqual(opened.rules[2].depends, ("two",))
        refused = self.judged(opened, Status.PASS, Status.FAIL, Status.PASS)
        self.assertEqual((refused.points, refused.cases[2].run.status), (50, Status.NOT_RUN))
        alone = self.rubric('[lab01."hidden.three"]\ndepends = []\n')
        self.assertEqual(alone.rules[2].depends, ())

    def test_own_rubrics(self) -> None:
        rubric = self.rubric(
            '[lab01."hidden.three"]\npoints = 5\nhidden = false\ncategory = "odd"\nfeedback = "f"\n'
        )
        rule = rubric.rules[2]
        self.assertEqual((rule.points, rule.hidden, rule.category), (5, False, "odd"))
        self.assertEqual(rubric.possible, 85)
        for text, why in (
            ("[lab01.four]\npoints = 1\n", "no case 'four'"),
            ("[lab01.one]\npoint = 1\n", "point = 1"),
            ("[lab01.one]\npoints = '1'\n", "points = '1'"),
            ("[lab01.one]\npoints = true\n", "points = True"),
            ('[lab01.one]\ndepends = ["two"]\n[lab01.two]\ndepends = ["one"]\n', "never run"),
            ('[lab01.one]\ndepends = ["four"]\n', "never run"),
            ("[lab01\n", "own.toml"),
        ):
            with self.subTest(text), self.assertRaisesRegex(LabError, why):
                self.rubric(text)

    def test_no_rubric(self) -> None:
        self.write("solutions/01-tiny/tests/rubric.json", "[]")
        with self.assertRaisesRegex(LabError, "is not a rubric"):
            self.rubric()

    def with_grave(self, kind: str, case: str, status: Status = Status.FAIL) -> Graded:
        runs = [CaseRun(one["case"], Status.PASS) for one in CASES]
        runs = [replace(r, status=status, grave=kind) if r.case == case else r for r in runs]
        rubric = self.rubric('[lab01."hidden.three"]\npoints = 1\n[lab01.one]\npoints = 69\n')
        submission = Submission("ada", "", self.lab, "tiny.c", b"x")
        return judge(submission, Run(cases=tuple(runs)), rubric)

    def test_a_hidden_test_of_one_point_can_take_off_fourteen(self) -> None:
        graded = self.with_grave("race", "hidden.three")
        self.assertEqual(graded.points, 99)
        self.assertEqual(capped(graded, CAP), {"kinds": ["race"], "at_most": 85.0, "points": 14.0})

    def test_who_has_fewer_points_loses_none(self) -> None:
        graded = self.with_grave("leak", "one")
        self.assertEqual(graded.points, 31)
        self.assertEqual(capped(graded, CAP), {"kinds": ["leak"], "at_most": 85.0, "points": 0.0})

    def test_other_failures_and_what_passed_for_good_cap_nothing(self) -> None:
        self.assertIsNone(capped(self.with_grave("", "one"), CAP))
        self.assertIsNone(capped(self.with_grave("race", "one", Status.PASS), CAP))

    def test_the_cap_is_a_share_and_can_be_off(self) -> None:
        graded = self.with_grave("host wait", "one")
        self.assertEqual((capped(graded, 62.5) or {})["at_most"], 62.5)
        self.assertIsNone(capped(graded, 100.0))

    def test_the_cap_is_in_course_toml_or_typed(self) -> None:
        there = read(self.write("course.toml", "grave_cap = 60\n"), ["01"])
        self.assertEqual(grave_cap(read(None, []), {}), 85)
        self.assertEqual(grave_cap(there, {}), 60)
        self.assertEqual(grave_cap(there, {"grave_cap": 100}), 100)
        with self.assertRaisesRegex(LabError, "--grave-cap 101: it is a number of per cent"):
            grave_cap(there, {"grave_cap": 101.0})
        with self.assertRaisesRegex(LabError, "course.toml, line 1: grave_cap = 101"):
            read(self.write("course.toml", "grave_cap = 101\n"), ["01"])


class Late(FakeCheckout):
    def test_days(self) -> None:
        due = when("2026-11-20T12:00+00:00")
        policy = LatePolicy(due, grace_minutes=10, percent_a_day=20, cap=50)
        for hours, days, percent in (
            (-1, 0, 0),
            (0.1, 0, 0),
            (0.2, 1, 20),
            (24, 1, 20),
            (25, 2, 40),
            (100, 5, 50),
        ):
            found = policy.days("ada", self.lab, due + hours * 3600)
            self.assertEqual((found, policy.percent(found)), (days, percent), hours)
        self.assertEqual(policy.days("ada", self.lab, None), 0)
        self.assertEqual(LatePolicy(percent_a_day=10).days("ada", self.lab, due), 0)

    def test_extensions(self) -> None:
        path = self.write(
            "more.csv",
            "student,until,lab\nada,2026-11-22T12:00Z,lab1\nbob,2026-11-21T12:00Z,\n",
        )
        due = when("2026-11-20T12:00Z")
        found = read_tables({"extensions": path}, ("01",)).extensions
        rules = LatePolicy(due, percent_a_day=10, extensions=found)
        self.assertEqual(rules.days("ada", self.lab, due + 47 * 3600), 0)
        self.assertEqual(rules.days("bob", self.lab, due + 47 * 3600), 1)
        self.assertEqual(rules.days("cyd", self.lab, due + 47 * 3600), 2)
        later = LatePolicy(due + 90 * 3600, extensions=found)  # bob's is for all labs
        self.assertEqual(later.days("bob", self.lab, due + 47 * 3600), 0)

    def test_slip_days_are_spent_in_the_order_of_deadlines(self) -> None:
        path = self.write(
            "course.toml",
            "slip_days = 3\nslip_days_a_lab = 2\nlate = 10\n"
            '[labs.01]\ndeadline = "2026-11-20T12:00Z"\n'
            "[labs.02]\ndeadline = 2026-11-27T12:00:00Z\n",
        )
        bobs = {("bob", "01"): when("2026-11-22T12:00Z")}
        rules = policy(read(path, ("01", "02")), {}, bobs)
        first, second = self.lab, replace(self.lab, folder="02-other")
        late_first, late_second = when("2026-11-23T11:00Z"), when("2026-11-29T11:00Z")
        spent = rules.slips(
            [
                ("ada", second, late_second),  # 2 days late, 1 is left
                ("ada", first, late_first),  # 3 days late
                ("bob", first, late_first),  # 1 day, with his extension
                ("bob", second, late_second),
                ("cyd", first, None),
            ]
        )
        self.assertEqual(
            spent,
            {
                ("ada", "01"): 2,
                ("ada", "02"): 1,
                ("bob", "01"): 1,
                ("bob", "02"): 2,
                ("cyd", "01"): 0,
            },
        )
        self.assertEqual(rules.percent(rules.days("ada", first, late_first) - 2), 10)

    def test_all_slip_days_may_go_into_one_lab_unless_something_else_is_said(self) -> None:
        path = self.write("course.toml", "slip_days = 3\n")
        self.assertEqual(policy(read(path, ()), {}, {}).slip_days_a_lab, 3)

    def test_times_of_one_lab(self) -> None:
        rows = "student,submitted,lab\nada,2026-11-20T12:00Z,\nada,2026-11-21T12:00Z,lab2\n"
        times = read_tables({"times": self.write("times.csv", rows)}, ("01", "02")).times
        self.assertEqual(times["ada", "02"] - times["ada", ""], 86400)

    def test_half_points(self) -> None:
        self.assertEqual(rounded(Decimal(89) - deduction(89, 12.5)), 77.88)
        self.assertEqual(rounded(Decimal("0.005")), 0.01)

    def test_no_time(self) -> None:
        with self.assertRaisesRegex(LabError, "is not a time"):
            when("tomorrow")
        with self.assertRaisesRegex(LabError, "is not a time"):
            when("2026-11-20")
        with self.assertRaisesRegex(LabError, "extensions|No such file"):
            read_tables({"extensions": Path("/nowhere/extensions.csv")}, ())


if __name__ == "__main__":
    unittest.main()
