# SPDX-License-Identifier: MIT
"""The timed tasks of labs 03, 04, 07 and 08: which programs are timed, on which nodes.

A timed task is run as a test is: built and run in the sandbox, judged by a verifier outside of it
(tests/timed.c of the lab, labNN-check-timed). Its time is what the verifier reads in the node's
records; it counts for nothing but the leaderboard.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from grader.grade.batch import Batch, Task
from grader.grade.course import TIMED, Course, GradedLab, timed_fingerprint
from grader.grade.model import CaseRun, Run, Status, Submission
from grader.grade.proof import solution
from grader.grade.rubric import Rubric, Rule
from grader.leaderboard import bound

LABS = ("03", "04", "07", "08")
NODES = ("hgx-h200-4", "dgx-a100", "pcie-dual-socket-4")
NAIVE = "naive-"  # the simple way, which comes with the lab's tests
_MARK = " timed "  # in the journal, before the student: no student's name begins with a blank


@dataclass(frozen=True)
class Level:
    """A timed task on one node: what its times are compared with, in picoseconds."""

    lab: str  # "03"
    node: str
    title: str
    bound: int
    reference: int
    naive: int


@dataclass(frozen=True)
class Timed:
    """The timed task of one lab, ready to be run."""

    lab: GradedLab
    naive: GradedLab

    @property
    def number(self) -> str:
        return self.lab.lab.number


def of(course: Course, labs: Iterable[GradedLab]) -> list[Timed]:
    """Of those labs that have one."""
    return [
        Timed(_asking(course, lab, ""), _asking(course, lab, NAIVE))
        for lab in labs
        if lab.lab.number in LABS
    ]


def _asking(course: Course, lab: GradedLab, kind: str) -> GradedLab:
    rules = tuple(Rule(f"{TIMED}{kind}{node}", 0, 0, hidden=True) for node in NODES)
    rubric, version = Rubric(lab.lab, rules), timed_fingerprint(course, lab.lab)
    return replace(lab, rubric=rubric, todos=(0,), fingerprint=version, titles={})


def task(batch: Batch, timed: GradedLab, one: Submission) -> Task:
    return batch.task(timed, replace(one, student=f"{_MARK}{one.student}"))


def levels(batch: Batch, course: Course, timed: Timed) -> tuple[list[Level], str]:
    """What the course's own solution and the naive way take; instead, why that is not known."""
    own = solution(course, timed.lab)
    tasks = [task(batch, lab, own) for lab in (timed.lab, timed.naive)]
    broken = batch.run(batch.to_do(tasks, lambda _: False), lambda task, run: None)
    runs = [broken.get(one.cache) or batch.journal.runs[one.cache] for one in tasks]
    if said := next(filter(None, map(why_not, runs)), ""):
        return [], said
    return [
        Level(
            timed.number,
            node,
            mine.title,
            bound.ps(timed.number, node, mine.payload),
            mine.timed_ps,
            naive.timed_ps,
        )
        for node, mine, naive in zip(NODES, runs[0].cases, runs[1].cases, strict=True)
    ], ""


def why_not(run: Run) -> str:
    """Why a run has no times; "" where it has all of them."""
    if run.broken or not run.compiled:
        return run.broken or "it does not compile"
    failed = [case for case in run.cases if case.status is not Status.PASS or not case.timed_ps]
    return "; ".join(f"{case.case}: {case.message or case.status.value}" for case in failed)


def times(run: Run) -> dict[str, int]:
    """Picoseconds, by node."""
    return {_node(case): case.timed_ps for case in run.cases if case.timed_ps}


def _node(case: CaseRun) -> str:
    return case.case.removeprefix(TIMED)
