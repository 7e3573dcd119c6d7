# SPDX-License-Identifier: MIT
"""Which answers without work are asked on every change: tasks that hand their work to each other,
each two of a lab's functions, and the chains that once got points."""

import os
import sys
import unittest
from itertools import combinations
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(HERE)]

import corpus  # noqa: E402

from grader.course.project import Project  # noqa: E402

PROJECT = Project(ROOT, build=Path(os.environ["PEERLAB_BUILD"]).resolve())
ISSUE_35 = {  # answers that got points once: 52 of 100 in lab 04, 56 in lab 07
    "lab04": [("sum_shared", "sum_warp"), ("sum_warp", "sum_shared")],
    "lab07": [
        ("ring_reduce_scatter", "ring_pipelined"),
        ("ring_all_gather", "ring_pipelined"),
        ("ring_all_reduce", "ring_pipelined"),
        ("ring_pipelined", "ring_all_reduce"),
    ],
}


class Pairs(unittest.TestCase):
    def test_all_are_asked_on_every_change(self) -> None:
        for lab in PROJECT.labs():
            asked = [answer for answer in corpus.answers(PROJECT, lab) if answer.common]
            task_of = corpus.declared(PROJECT, lab).functions
            for a, b in combinations(task_of, 2):
                if task_of[a] != task_of[b]:
                    with self.subTest(f"{lab.name}: {a} and {b}"):
                        self.assertTrue(self.is_in_one(asked, [(a, b), (b, a)]))

    def test_those_of_the_issue_are_asked_on_every_change(self) -> None:
        for name, calls in ISSUE_35.items():
            lab = PROJECT.lab(name.removeprefix("lab"))
            asked = [answer for answer in corpus.answers(PROJECT, lab) if answer.common]
            with self.subTest(name):
                self.assertTrue(self.is_in_one(asked, calls))

    def is_in_one(self, asked: list[corpus.Answer], calls: list[tuple[str, str]]) -> bool:
        """Whether one answer has all these calls."""
        return any(
            all(answer.bodies[caller].startswith(f"return {callee}(") for caller, callee in calls)
            for answer in asked
        )


if __name__ == "__main__":
    unittest.main()
