# SPDX-License-Identifier: MIT
"""The leaderboard: whose timed task took how long, of those who have all tests of the lab right.

Every time stands in the journal, with the file that it is of and the version of what measured it
(timed.py). Times of another version are kept, but not compared.
"""

import time
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from grader.grade.batch import Batch, Task
from grader.grade.course import Course, GradedLab
from grader.grade.journal import Journal
from grader.grade.model import Run, Status, Submission
from grader.leaderboard import timed
from grader.leaderboard.realgpus import Measured, measured
from grader.leaderboard.timed import Level, Timed


@dataclass(frozen=True)
class Mark:
    """A time of a file that was handed in."""

    student: str
    ps: int
    day: str  # 2026-11-20, UTC


@dataclass(frozen=True)
class Race:
    """All that is known of one lab's timed task on one node."""

    level: Level
    marks: list[Mark]
    below: list[Mark]  # faster than light: they have no place, and somebody looks at them

    def best(self) -> list[Mark]:
        """Of each student the fastest, and of equal ones the earliest; the fastest first."""
        found: dict[str, Mark] = {}
        for mark in sorted(self.marks, key=_order):
            found.setdefault(mark.student, mark)
        return list(found.values())

    def by_day(self) -> list[tuple[Mark, int]]:
        """The best of each day on which somebody handed in, and the best until then."""
        days: dict[str, Mark] = {}
        for mark in sorted(self.marks, key=_order):
            days.setdefault(mark.day, mark)
        found, best = [], 0
        for mark in sorted(days.values(), key=lambda mark: mark.day):
            best = min(best or mark.ps, mark.ps)
            found.append((mark, best))
        return found


def _order(mark: Mark) -> tuple[int, str, str]:
    return mark.ps, mark.day, mark.student


@dataclass
class Board:
    races: list[Race] = field(default_factory=list)
    refused: list[tuple[str, str, str]] = field(default_factory=list)  # student, lab, why
    failed: list[tuple[str, str]] = field(default_factory=list)  # lab, why it has no races
    real: dict[str, Measured] = field(default_factory=dict)  # by lab
    older: int = 0  # times of another version, which are not shown


@dataclass(frozen=True)
class Timing:
    """What takes the times, and of whom nothing is shown (withdrawn: student and lab)."""

    batch: Batch
    course: Course
    withdrawn: Set[tuple[str, str]]

    def board(self, labs: Iterable[GradedLab], tasks: list[Task]) -> Board:
        found = Board()
        for one in timed.of(self.course, labs):
            levels, why = timed.levels(self.batch, self.course, one)
            if why:
                found.failed.append((one.number, why))
                continue
            mine = [task for task in tasks if task.lab.lab.number == one.number]
            self._time(one, [task.submission for task in mine if self._is_right(task)], found)
            self._races(one, levels, found)
            if real := measured(self.course.project, one.number):
                found.real[one.number] = real
        return found

    def _is_right(self, task: Task) -> bool:
        """Every test, hidden ones too. Of a group, the one who handed it in has the place."""
        one = task.submission
        mine = one.handed_in_by in ("", one.student)
        return mine and is_right(self.batch.journal.runs.get(task.cache))

    def _time(self, lab: Timed, right: list[Submission], found: Board) -> None:
        tasks = {one.student: timed.task(self.batch, lab.lab, one) for one in right}
        todo = self.batch.to_do(list(tasks.values()), lambda _: False)
        broken = self.batch.run(todo, lambda task, run: None)
        for one in right:
            cache = tasks[one.student].cache
            run = broken.get(cache) or self.batch.journal.runs[cache]
            if why := timed.why_not(run):
                found.refused.append((one.student, lab.number, why))
            else:
                _note(self.batch.journal, one, lab, run)

    def _races(self, lab: Timed, levels: list[Level], found: Board) -> None:
        known = [one for one in self.batch.journal.timed if one["lab"] == lab.number]
        gone = self.withdrawn
        known = [
            one for one in known if not {(one["student"], lab.number), (one["student"], "")} & gone
        ]
        mine = [one for one in known if one["version"] == lab.lab.fingerprint]
        found.older += len(known) - len(mine)
        for level in levels:
            marks = [
                Mark(one["student"], one["times"][level.node], one["day"])
                for one in mine
                if level.node in one["times"]
            ]
            seen = [mark for mark in marks if mark.ps >= level.bound]
            below = [mark for mark in marks if mark.ps < level.bound]
            found.races.append(Race(level, seen, below))


def is_right(run: Run | None) -> bool:
    return (
        run is not None
        and run.compiled
        and not run.broken
        and bool(run.cases)
        and all(case.status is Status.PASS for case in run.cases)
    )


def _note(journal: Journal, one: Submission, lab: Timed, run: Run) -> None:
    """Each file of a student once, by each version."""
    entry: dict[str, Any] = {"student": one.student, "lab": lab.number, "digest": one.digest}
    entry["version"] = lab.lab.fingerprint
    if any(entry.items() <= old.items() for old in journal.timed):
        return
    at = one.submitted if one.submitted is not None else time.time()
    day = datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%d")
    journal.note_times({**entry, "day": day, "times": timed.times(run)})


Named = Callable[[str], str]


def lines(board: Board, named: Named) -> list[list[object]]:
    """The instructor's table: every time with the name it has on the page, and what has none."""
    head: list[object] = ["pseudonym", "student", "lab", "node", "microseconds", "day", "remark"]
    found = [head]
    for race in board.races:
        for mark in sorted([*race.marks, *race.below], key=_order):
            said = "below the bound: no place" if mark in race.below else ""
            who = [named(mark.student), mark.student, f"lab{race.level.lab}", race.level.node]
            found.append([*who, round(mark.ps / 1e6, 3), mark.day, said])
    for student, lab, why in sorted(board.refused):
        found.append([named(student), student, f"lab{lab}", "", "", "", why])
    return found
