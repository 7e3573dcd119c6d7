# SPDX-License-Identifier: MIT
"""Late submissions: a deadline, a grace period, per cent a day up to a cap, and extensions.

A day counts as soon as it has begun. Extensions come as a CSV with the columns student and until,
and lab where it is for one lab only.
"""

import math
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.course.project import Lab
from grader.grade.layouts import read_table

_DAY = 86400.0


@dataclass(frozen=True)
class LatePolicy:
    deadline: float | None = None  # seconds since 1970; None: nothing is late
    grace_minutes: float = 0.0
    percent_a_day: float = 0.0
    cap: float = 100.0  # per cent, at most
    extensions: dict[tuple[str, str], float] = field(default_factory=dict)  # (student, lab or "")

    def due(self, student: str, lab: Lab) -> float | None:
        for key in ((student, lab.number), (student, "")):
            if key in self.extensions:
                return self.extensions[key]
        return self.deadline

    def days(self, student: str, lab: Lab, submitted: float | None) -> int:
        """Begun days after the deadline; 0 within the grace period."""
        due = self.due(student, lab)
        if due is None or submitted is None or submitted <= due + self.grace_minutes * 60:
            return 0
        return math.ceil((submitted - due) / _DAY)

    def percent(self, days: int) -> float:
        return min(self.cap, days * self.percent_a_day)


def deduction(points: int, percent: float) -> Decimal:
    return Decimal(points) * Decimal(str(percent)) / 100


def when(text: str) -> float:
    """2026-11-20T23:59, in local time unless it says another zone."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError as error:
        raise LabError(
            f"{text!r} is no time; write it as 2026-11-20T23:59 or 2026-11-20T23:59+01:00",
            ExitStatus.USAGE,
        ) from error


def read_extensions(path: Path | None) -> dict[tuple[str, str], float]:
    if path is None:
        return {}
    rows = read_table(path, ("student", "until"))
    return {(row["student"], _number(row.get("lab", ""))): when(row["until"]) for row in rows}


def read_times(path: Path | None) -> dict[str, float]:
    """When who handed in, where the files' own times are not those: columns student, submitted."""
    if path is None:
        return {}
    return {
        row["student"]: when(row["submitted"]) for row in read_table(path, ("student", "submitted"))
    }


def _number(lab: str) -> str:
    digits = "".join(c for c in lab if c.isdigit())
    return digits.zfill(2) if digits else ""
