# SPDX-License-Identifier: MIT
"""Late submissions: deadlines, a grace period, per cent a day up to a cap, slip days, extensions.

A day counts as soon as it has begun. Every student has slip days, late days that cost nothing; they
are spent by themselves, in the order of the labs' deadlines. Extensions come as a CSV with the
columns student and until, and lab where it is for one lab only. What holds for the whole term can
stand in a file (course.toml; docs/instructors.md shows one).
"""

import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

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
    deadlines: dict[str, float] = field(default_factory=dict)  # by lab, in place of `deadline`
    slip_days: int = 0  # of each student, in all labs together
    slip_days_a_lab: int = 0

    def due(self, student: str, lab: Lab) -> float | None:
        for key in ((student, lab.number), (student, "")):
            if key in self.extensions:
                return self.extensions[key]
        return self.deadlines.get(lab.number, self.deadline)

    def days(self, student: str, lab: Lab, submitted: float | None) -> int:
        """Begun days after the deadline; 0 within the grace period."""
        due = self.due(student, lab)
        if due is None or submitted is None or submitted <= due + self.grace_minutes * 60:
            return 0
        return math.ceil((submitted - due) / _DAY)

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
        due = self.deadlines.get(one[1].number, self.deadline)
        return (math.inf if due is None else due, one[1].number)

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


_TERM = {
    "grace_minutes": (int, float),
    "late": (int, float),
    "late_cap": (int, float),
    "slip_days": int,
    "slip_days_a_lab": int,
    "labs": dict,
}


def read_term(path: Path | None) -> dict[str, Any]:
    """course.toml: the numbers above, and `deadlines` by lab."""
    if path is None:
        return {"deadlines": {}}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LabError(f"{path}: {error}", ExitStatus.USAGE) from error
    for name, value in found.items():
        if name not in _TERM or isinstance(value, bool) or not isinstance(value, _TERM[name]):
            allowed = ", ".join(_TERM)
            message = f"{path}: {name} = {value!r} is none of the settings: {allowed}"
            raise LabError(message, ExitStatus.USAGE)
    deadlines = {}
    for lab, says in found.pop("labs", {}).items():
        if not isinstance(says, dict) or set(says) != {"deadline"} or not _number(lab):
            message = (
                f'{path}: write [labs.03] with deadline = "2026-11-20T23:59", not {lab} {says}'
            )
            raise LabError(message, ExitStatus.USAGE)
        deadlines[_number(lab)] = when(str(says["deadline"]))
    return {**found, "deadlines": deadlines}


def read_extensions(path: Path | None) -> dict[tuple[str, str], float]:
    if path is None:
        return {}
    rows = read_table(path, ("student", "until"))
    return {(row["student"], _number(row.get("lab", ""))): when(row["until"]) for row in rows}


def read_times(path: Path | None) -> dict[tuple[str, str], float]:
    """When who handed in, where the files' own times are not those: columns student, submitted,
    and lab where it is for one lab only. By (student, lab or "")."""
    if path is None:
        return {}
    return {
        (row["student"], _number(row.get("lab", ""))): when(row["submitted"])
        for row in read_table(path, ("student", "submitted"))
    }


def _number(lab: str) -> str:
    digits = "".join(c for c in lab if c.isdigit())
    return digits.zfill(2) if digits else ""
