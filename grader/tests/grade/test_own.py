# SPDX-License-Identifier: MIT
"""A failure with the student's own functions counts unless one of these fails its own tests."""

import unittest

from grader.grade.model import CaseRun, Status
from grader.grade.own import settled
from grader.grade.rubric import Rule

RULES = [Rule("one", 1, 10, False), Rule("two", 2, 10, False), Rule("three", 3, 10, False)]


def settle(*runs: CaseRun) -> list[str]:
    return [run.status.value for run in settled(RULES, {run.case: run for run in runs})]


def failed(case: str, *builds_on: int) -> CaseRun:
    """As the grader notes it: passed for the time being."""
    return CaseRun(case, Status.PASS, message="got 3", builds_on=builds_on)


class Own(unittest.TestCase):
    def test_it_counts(self) -> None:
        one, three = CaseRun("one", Status.PASS), CaseRun("three", Status.PASS)
        self.assertEqual(settle(one, failed("two", 1), three), ["pass", "fail", "pass"])

    def test_a_bug_costs_once(self) -> None:
        one, three = CaseRun("one", Status.FAIL), CaseRun("three", Status.CRASH)
        self.assertEqual(settle(one, failed("two", 1, 3), three), ["fail", "pass", "crash"])

    def test_a_chain(self) -> None:
        """TODO(2) fails with its own TODO(1), and so TODO(3), which builds on both, is right."""
        one = CaseRun("one", Status.PASS)
        self.assertEqual(
            settle(one, failed("two", 1), failed("three", 1, 2)), ["pass", "fail", "pass"]
        )

    def test_what_builds_on_each_other(self) -> None:
        found = settle(CaseRun("one", Status.PASS), failed("two", 3), failed("three", 2))
        self.assertEqual(found, ["pass", "fail", "fail"])


if __name__ == "__main__":
    unittest.main()
