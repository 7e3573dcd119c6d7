# SPDX-License-Identifier: MIT
"""Late submissions: deadlines, a grace period, per cent a day up to a cap, slip days, extensions.

A day counts as soon as it has begun. Every student has slip days, late days that cost nothing; they
are spent by themselves, in the order of the labs' deadlines. term.py reads all of it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from grader.base.exits import ExitStatus, LabError
from grader.course.project import Lab

_DAY = 86400.0


@dataclass(frozen=True)
class LatePolicy:
    deadline: float | None = None  # seconds since 1970; None: nothing is late
    grace_minutes: float = 0.0
    percent_a_day: float = 0.0
    cap: float = 100.0  # per cent, at most
    extensions: dict[tuple[str, str], float] = field(default_factory=dict)  # (student, lab or "")
    deadlines: dict[str, float] = field(default_factory=dict)  # by lab, in place of `deadline`
    slip_days: int = 0  # of each student, in all labs together
    slip_days_a_lab: int = 0

    def due(self, student: str, lab: Lab) -> float | None:
        """An extension for all labs ends before the deadlines of some: then those count."""
        closes = self.closes(lab)
        for key in ((student, lab.number), (student, "")):
            if key in self.extensions:
                return max(self.extensions[key], closes or self.extensions[key])
        return closes

    def days(self, student: str, lab: Lab, submitted: float | None) -> int:
        """Begun days after the deadline; 0 within the grace period."""
        due = self.due(student, lab)
        if due is None or submitted is None or submitted <= due + self.grace_minutes * 60:
            return 0
        return math.ceil((submitted - due) / _DAY)

    def closes(self, lab: Lab) -> float | None:
        """The deadline that is not one student's."""
        return self.deadlines.get(lab.number, self.deadline)

    def slips(
        self, handed_in: Iterable[tuple[str, Lab, float | None]]
    ) -> dict[tuple[str, str], int]:
        """The slip days that each student (by id) spends on each lab (by number)."""
        left: dict[str, int] = {}
        spent: dict[tuple[str, str], int] = {}
        for student, lab, submitted in sorted(handed_in, key=self._by_deadline):
            days = self.days(student, lab, submitted)
            used = min(days, self.slip_days_a_lab, left.get(student, self.slip_days))
            left[student] = left.get(student, self.slip_days) - used
            spent[student, lab.number] = used
        return spent

    def _by_deadline(self, one: tuple[str, Lab, float | None]) -> tuple[float, str]:
        due = self.closes(one[1])
        return (math.inf if due is None else due, one[1].number)

    def percent(self, days: int) -> float:
        return min(self.cap, days * self.percent_a_day)


def deduction(points: Decimal, percent: float) -> Decimal:
    return points * Decimal(str(percent)) / 100


def when(text: str) -> float:
    """2026-11-20T23:59, in local time unless it says another zone."""
    found = moment(text)
    if found is None:
        raise LabError(no_time(text), ExitStatus.USAGE)
    return found


def moment(text: str) -> float | None:
    """None: that is no time. A day alone is none: does it end or begin at the deadline?"""
    try:
        return datetime.fromisoformat(text).timestamp() if ":" in text else None
    except (ValueError, OverflowError):
        return None


def no_time(text: str) -> str:
    return f"{text!r} is not a time; write it as 2026-11-20T23:59 or 2026-11-20T23:59+01:00"
