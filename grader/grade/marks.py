# SPDX-License-Identifier: MIT
"""From verdicts to points. Only the rubric says what a case is worth; a case that it names and that
did not pass is worth nothing, whyever. An error of ours is no mark at all."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from grader.course import grave
from grader.grade.model import CaseRun, Run, Status, Submission
from grader.grade.rubric import Rubric, Rule

NO_MARK = frozenset({Status.INFRASTRUCTURE})


@dataclass(frozen=True)
class GradedCase:
    rule: Rule
    run: CaseRun

    @property
    def points(self) -> int:
        return self.rule.points if self.run.status is Status.PASS else 0


@dataclass(frozen=True)
class Graded:
    """A submission's cases in the order of the rubric; `points` is None without a mark."""

    status: Status
    cases: tuple[GradedCase, ...]
    possible: int
    message: str = ""

    @property
    def points(self) -> int | None:
        return None if self.status in NO_MARK else sum(case.points for case in self.cases)


def judge(submission: Submission, run: Run | None, rubric: Rubric) -> Graded:
    """`run` is None where there was nothing to run."""
    if submission.problem:
        return Graded(Status.REJECTED, (), rubric.possible, submission.problem)
    if submission.contents is None:
        return Graded(Status.MISSING, (), rubric.possible, f"no {submission.file} was handed in")
    if run is None:
        return Graded(Status.INFRASTRUCTURE, (), rubric.possible, "it was not graded")
    if run.broken:
        return Graded(Status.INFRASTRUCTURE, (), rubric.possible, run.broken)
    if not run.compiled:
        message = f"{submission.file} does not compile"
        return Graded(Status.COMPILE_ERROR, (), rubric.possible, message)
    return _judge_cases(run, rubric)


def _judge_cases(run: Run, rubric: Rubric) -> Graded:
    """A case that the rubric names and that was not run is an error of ours."""
    found = {case.case: case for case in run.cases}
    nothing = "it was not run"
    cases = tuple(
        GradedCase(
            rule,
            _with_dependencies(rule, found)
            or found.get(rule.case, CaseRun(rule.case, Status.INFRASTRUCTURE, message=nothing)),
        )
        for rule in rubric.rules
    )
    broken = [case for case in cases if case.run.status is Status.INFRASTRUCTURE]
    if broken:
        message = f"{broken[0].rule.case}: {broken[0].run.message}"
        return Graded(Status.INFRASTRUCTURE, cases, rubric.possible, message)
    return Graded(_summary(cases), cases, rubric.possible)


def _with_dependencies(rule: Rule, found: dict[str, CaseRun]) -> CaseRun | None:
    """Not run where what it depends on did not pass, also by a rubric newer than the run."""
    lacking = [
        name for name in rule.depends if name not in found or found[name].status is not Status.PASS
    ]
    if not lacking:
        return None
    names = " and ".join(name.removeprefix("hidden.") for name in lacking)
    title = found[rule.case].title if rule.case in found else ""
    return CaseRun(rule.case, Status.NOT_RUN, title, message=f"{names} must pass first")


def _summary(cases: tuple[GradedCase, ...]) -> Status:
    """All, some, or none; none has the name of what was wrong where it was one thing only."""
    if all(case.run.status is Status.PASS for case in cases):
        return Status.PASS
    if any(case.points > 0 for case in cases):
        return Status.PARTIAL
    wrong = {case.run.status for case in cases} - {Status.PASS, Status.NOT_RUN}
    return wrong.pop() if len(wrong) == 1 else Status.FAIL


def capped(graded: Graded, cap: float) -> dict[str, Any] | None:
    """The kinds of grave mistakes that failed cases tell (one that passes for good, own.py, tells
    none), how many points the lab has with them at most, and what that takes off."""
    kinds = grave.ordered(c.run.grave for c in graded.cases if c.run.status is not Status.PASS)
    if not kinds or graded.points is None or cap >= 100:
        return None
    most = Decimal(graded.possible) * Decimal(str(cap)) / 100
    off = max(Decimal(0), graded.points - most)
    return {"kinds": kinds, "at_most": float(most), "points": float(off)}


def rounded(points: Decimal) -> float:
    """To a hundredth of a point, halves up."""
    return float(points.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP))
