# SPDX-License-Identifier: MIT
"""Per task of a lab what the class did: how many solved it and at which attempt, what they found
hard, and where many lose points for the same reason."""

import itertools
import re
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Json = dict[str, Any]
MOST_FINDINGS = 5
MANY = 1 / 3  # of those who wrote a task: then the course is looked at, not they
LEAST = 3  # students; fewer are no class
_LOST = frozenset({"fail", "crash", "timeout", "cannot run"})
_VARIABLE = (
    (re.compile(r"\"[^\"]*\"|'[^']*'"), "'...'"),
    (re.compile(r"\b0x[0-9a-f.]+|-?\b\d[\d.,]*"), "N"),
)


@dataclass(frozen=True)
class Finding:
    """A test that failed in the same way for `count` students; `said` is its most frequent text."""

    case: str
    hidden: bool
    title: str
    said: str
    line: int | None  # of the skeleton
    count: int
    points: int  # that it cost one of them


@dataclass(frozen=True)
class Task:
    """`todo` 0: what is tested of the lab as a whole. `first` counts students by the attempt that
    was the first to solve it; who solved it in no known attempt is not among them."""

    todo: int
    students: int  # whose file was run
    unwritten: int
    solved: int
    first: Counter[int]
    points: int
    possible: int
    findings: tuple[Finding, ...]
    hints: tuple[int, ...]  # of those who told
    hours: tuple[float, ...]  # from the first attempt to the one that solved it, if that is later
    hidden_only: int  # passed all public tests and failed a hidden one

    @property
    def written(self) -> int:
        return self.students - self.unwritten

    @property
    def name(self) -> str:
        return f"task {self.todo}" if self.todo else "whole lab"


def tasks(rows: list[Json]) -> list[Task]:
    """In the order of the lab; `rows` are those of one lab whose file was run."""
    todos = {case["todo"] for row in rows for case in row["cases"]}
    return [_task(todo, rows) for todo in sorted(todos, key=lambda n: (n == 0, n))]


def _task(todo: int, rows: list[Json]) -> Task:
    mine = [[case for case in row["cases"] if case["todo"] == todo] for row in rows]
    passed = [all(case["status"] == "pass" for case in cases) for cases in mine]
    first = [_first(row, todo) for row, done in zip(rows, passed, strict=True) if done]
    hints = [row["hints"].get(str(todo), 0) for row in rows if row.get("hints") is not None]
    return Task(
        todo=todo,
        students=len(rows),
        unwritten=sum(any(c["status"] == "not written" for c in cases) for cases in mine),
        solved=sum(passed),
        first=Counter(at for at in first if at),
        points=sum(case["points"] for cases in mine for case in cases),
        possible=sum(case["possible"] for cases in mine for case in cases),
        findings=findings([case for cases in mine for case in cases]),
        hints=tuple(hints) if todo else (),
        hours=tuple(
            hours
            for row, at in zip(rows, (_first(row, todo) for row in rows), strict=True)
            if at > 1 and (hours := sum(_gaps(row["attempts"][:at])))
        ),
        hidden_only=sum(map(_only_hidden, mine)),
    )


def _first(row: Json, todo: int) -> int:
    """The number of the attempt that solved it first, from 1; 0: not known."""
    solved = [todo in one["solved"] for one in row.get("attempts", ())]
    return solved.index(True) + 1 if True in solved else 0


def _only_hidden(cases: list[Json]) -> bool:
    public = [case for case in cases if not case["hidden"]]
    hidden = [case for case in cases if case["hidden"]]
    passed = all(case["status"] == "pass" for case in public)
    return bool(public) and passed and any(case["status"] in _LOST for case in hidden)


def findings(cases: Iterable[Json]) -> tuple[Finding, ...]:
    """The most frequent first; texts that differ in numbers and quoted words only are one."""
    groups: dict[tuple[str, str], list[Json]] = {}
    for case in cases:
        if case["status"] in _LOST:
            groups.setdefault((case["case"], reason(case)), []).append(case)
    found = [_finding(group) for group in groups.values()]
    return tuple(sorted(found, key=lambda one: (-one.count, one.case, one.said)))


def reason(case: Json) -> str:
    """What went wrong, without what differs from student to student."""
    text = _first_line(case["message"])
    for pattern, word in _VARIABLE:
        text = pattern.sub(word, text)
    return f"{case['status']}: {text}"


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else ""


def _finding(group: list[Json]) -> Finding:
    said = Counter(_first_line(case["message"]) or case["status"] for case in group)
    lines = Counter(line for case in group if (line := case.get("skeleton")))
    one = group[0]
    return Finding(
        case=one["case"],
        hidden=one["hidden"],
        title=next((case["title"] for case in group if case["title"]), ""),
        said=min(said.items(), key=lambda entry: (-entry[1], entry[0]))[0],
        line=min(lines.items(), key=lambda entry: (-entry[1], entry[0]))[0] if lines else None,
        count=len(group),
        points=one["possible"],
    )


def suspicions(task: Task) -> list[tuple[int, str]]:
    """How many students, and why the course itself may be at fault."""
    least = max(LEAST, MANY * task.written)
    found = []
    for one in task.findings:
        if one.count >= least:
            said = f"lose {one.points} points for the same reason in {one.case}: {one.said}"
            found.append((one.count, said))
    if task.hidden_only >= least:
        said = "pass every public test of it and fail a hidden one: the public tests do not show it"
        found.append((task.hidden_only, said))
    if task.todo and task.written >= LEAST and task.solved == 0:
        found.append((task.written, "wrote it, and no student solved it"))
    if len(task.hints) >= LEAST and statistics.median(task.hints) >= 3:
        found.append((len(task.hints), "told of their hints, and most asked for all of them"))
    return found


def hours_between(rows: list[Json]) -> list[float]:
    """Between one file that was handed in and the next of the same student, for all of a lab."""
    return [hours for row in rows for hours in _gaps(row.get("attempts", ()))]


def _gaps(attempts: Iterable[Json]) -> list[float]:
    texts = [one["submitted"] for one in attempts if one["submitted"]]
    times = sorted(datetime.fromisoformat(text) for text in texts)
    return [(after - one).total_seconds() / 3600 for one, after in itertools.pairwise(times)]
