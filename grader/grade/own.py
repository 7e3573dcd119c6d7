# SPDX-License-Identifier: MIT
"""A test that passed with the course's functions around it and failed with the student's own.

It counts as failed, unless a TODO that it builds on fails one of its own tests: that bug has cost
its points already, and costs none of another task's.
"""

from collections.abc import Sequence
from dataclasses import replace

from grader.grade.model import CaseRun, Status
from grader.grade.rubric import Rule


def settled(rules: Sequence[Rule], done: dict[str, CaseRun]) -> list[CaseRun]:
    """Every case with its status for good. One that failed so stands as passed until then."""
    todo_of = {rule.case: rule.todo for rule in rules if rule.case in done}
    final = dict(done)
    open_ = {case for case, run in done.items() if run.builds_on}
    while open_:
        waits = {
            case: {todo_of[other] for other in open_} & set(final[case].builds_on) for case in open_
        }
        ready = {case for case in open_ if not waits[case]} or set(open_)
        for case in ready:
            right = all(
                final[other].status is Status.PASS
                for other, todo in todo_of.items()
                if todo in final[case].builds_on and other not in open_
            )
            final[case] = replace(
                final[case],
                status=Status.FAIL if right else Status.PASS,
                message=final[case].message if right else "",
                builds_on=(),
            )
        open_ -= ready
    return list(final.values())
