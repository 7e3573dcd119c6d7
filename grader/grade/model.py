# SPDX-License-Identifier: MIT
"""What grading deals in: a student's package, one lab's submission, and how its tests ended."""

import hashlib
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from grader.course.project import Lab


class Status(Enum):
    """How a case or a whole submission ended."""

    PASS = "pass"
    PARTIAL = "partial"  # of a submission only: some of its points
    FAIL = "fail"
    NOT_WRITTEN = "not written"
    COMPILE_ERROR = "compile error"
    TIMEOUT = "timeout"
    CRASH = "crash"
    CANNOT_RUN = "cannot run"
    NOT_RUN = "not run"  # what it depends on did not pass
    MISSING = "nothing submitted"
    REJECTED = "rejected"  # the archive or the file cannot be taken as it is
    INFRASTRUCTURE = "infrastructure error"  # ours: no mark, and no zero


class Rejected(Exception):
    """A package that is not taken; the sentence goes to the student."""


@dataclass
class Package:
    """What one student handed in. `files` has every path that might be a lab's file; `problem` is
    why nothing of it can be taken."""

    student: str
    name: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)  # of files in a folder: since 1970
    source: str = ""  # the path it came from, for a person
    submitted: float | None = None  # seconds since 1970
    commit: str = ""  # of a git checkout
    notes: list[str] = field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True)
class Submission:
    """One student's file for one lab."""

    student: str
    name: str
    lab: Lab
    file: str  # "p2p_copy.c"
    contents: bytes | None = None  # None: nothing submitted, or rejected
    source: str = ""
    submitted: float | None = None
    commit: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""
    hints: tuple[tuple[str, int], ...] | None = None  # asked for, by task; None: not told
    partner: str = ""  # the other one of a group
    handed_in_by: str = ""  # whose file it is, in a group

    @property
    def key(self) -> str:
        """What the journal calls it."""
        return f"{self.lab.name}/{self.student}"

    @property
    def digest(self) -> str:
        """Of the file as it is graded; "" without one."""
        return "" if self.contents is None else hashlib.sha256(self.contents).hexdigest()


@dataclass(frozen=True)
class CaseRun:
    """One case as it was run; points are not its business."""

    case: str  # "split" or "hidden.split"
    status: Status
    title: str = ""
    message: str = ""
    grave: str = ""  # what kind of grave mistake it tells (course/grave.py)
    why: str = ""
    where: str = ""
    next: str = ""
    said: str = ""
    explained: str = ""
    virtual_ps: int = 0
    timed_ps: int = 0  # of the timed task, by the node's records (timed.py)
    payload: int = 0  # bytes of one GPU that it moved
    cpu_seconds: float = 0.0
    charged_seconds: float = 0.0  # of the submission's deadline
    node: str = ""  # how the virtual node failed while it ran
    builds_on: tuple[int, ...] = ()  # it failed, with the student's own answers to these TODOs only

    def to_json(self) -> dict[str, Any]:
        return {**self.__dict__, "status": self.status.value, "builds_on": list(self.builds_on)}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "CaseRun":
        builds_on = tuple(data.get("builds_on", ()))
        return CaseRun(**{**data, "status": Status(data["status"]), "builds_on": builds_on})


@dataclass(frozen=True)
class Run:
    """How one submission was built and how its cases ended. `broken` says what went wrong on our
    side; such a run counts for nothing."""

    compiled: bool = True
    compiler_output: str = ""
    cases: tuple[CaseRun, ...] = ()
    broken: str = ""
    again: str = ""  # why it was graded a second time, alone
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {**self.__dict__, "cases": [case.to_json() for case in self.cases]}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Run":
        return Run(**{**data, "cases": tuple(CaseRun.from_json(one) for one in data["cases"])})
