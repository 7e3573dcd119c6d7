# SPDX-License-Identifier: MIT
"""What holds for a whole term: course.toml, and the tables that it names or that are typed.

    late, late_cap, grace_minutes, slip_days, slip_days_a_lab    late.py
    feedback = "at once", "after deadline", or a time            when students read theirs
    leaderboard = true                                           leaderboard.py
    students, times, extensions, groups, withdrawn, requests, questions = "FILE.csv"
    [labs.03] with deadline, and feedback for this lab only

docs/instructors.md shows one. Whatever is wrong is said with its line before anybody is graded.
"""

import difflib
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.course import grave
from grader.course.project import Lab
from grader.grade.late import LatePolicy, moment, no_time
from grader.grade.layouts import Row, mistake, read_roster, read_table

AT_ONCE, AFTER_DEADLINE = "at once", "after deadline"
FILES = ("students", "times", "extensions", "groups", "withdrawn", "requests", "questions")
_MOST = {  # per cent, or without end
    "late": 100,
    "late_cap": 100,
    "grave_cap": 100,
    "grace_minutes": None,
}
_WHOLE = ("slip_days", "slip_days_a_lab")
_COLUMNS = {
    "times": ("student", "submitted", "lab"),
    "extensions": ("student", "until", "lab"),
    "groups": ("student", "partner", "lab"),
    "withdrawn": ("student", "lab", "why"),
    "requests": ("student", "lab", "asked", "why", "answer"),
    "questions": ("student", "lab", "points", "comment"),
}
Key = tuple[str, str]  # a student, and a lab's number or "" for all


@dataclass(frozen=True)
class Term:
    """course.toml: `numbers` by name, deadlines and feedback by lab (feedback "" for all others),
    `files` by what they hold."""

    numbers: dict[str, float] = field(default_factory=dict)
    deadlines: dict[str, float] = field(default_factory=dict)
    feedback: dict[str, str | float] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    leaderboard: bool = False

    def shown_from(self, policy: LatePolicy, student: str, lab: Lab) -> float | None:
        """When this student may read about this lab; None: at once. After the deadline is after
        both the class's and the student's own."""
        rule = self.feedback.get(lab.number, self.feedback.get("", AT_ONCE))
        if isinstance(rule, float):
            return rule
        if rule == AT_ONCE:
            return None
        ends = [one for one in (policy.closes(lab), policy.due(student, lab)) if one is not None]
        return max(ends) + policy.grace_minutes * 60 if ends else None


@dataclass(frozen=True)
class Request:
    """A student asks to be graded again."""

    asked: float
    why: str
    answer: str


@dataclass
class Tables:
    """What the CSVs say, by student and lab. `named` are all rows that name a student."""

    roster: dict[str, Row] = field(default_factory=dict)
    times: dict[Key, float] = field(default_factory=dict)
    extensions: dict[Key, float] = field(default_factory=dict)
    groups: dict[Key, str] = field(default_factory=dict)  # who the other one is; "": nobody
    withdrawn: dict[Key, str] = field(default_factory=dict)  # why
    requests: dict[Key, Request] = field(default_factory=dict)
    questions: dict[Key, tuple[Decimal, str]] = field(default_factory=dict)
    named: list[tuple[Row, str]] = field(default_factory=list)

    def joined(self, student: str) -> float | None:
        """When somebody came who was not there from the start."""
        row = self.roster.get(student)
        return _time(row, "joined") if row and row.get("joined") else None

    def excused(self, policy: LatePolicy, student: str, lab: Lab) -> bool:
        """The lab was over when the student joined, and nobody gave an extension for it."""
        joined, closed = self.joined(student), policy.closes(lab)
        known = (student, lab.number) in policy.extensions or (student, "") in policy.extensions
        return joined is not None and closed is not None and closed <= joined and not known

    def check(self, known: Iterable[str], policy: LatePolicy) -> list[str]:
        """A name that is not in the class is a mistake; where no roster says who is, it is what
        this returns: a line for each. An extension that ends too early is a mistake, too."""
        there = set(known) | set(self.roster)
        said = []
        for row, student in self.named:
            closes = policy.deadlines.get(number_of(row.get("lab", "")))
            if closes is not None and "until" in row and _time(row, "until") < closes:
                raise row.mistake(f"until {row['until']} is before the deadline, {shown(closes)}")
            if student in there:
                continue
            like = difflib.get_close_matches(student, there, 1)
            hint = f"; is it {like[0]!r}" if like else ""
            if self.roster:
                raise row.mistake(f"{student!r} is not a student of the class{hint}")
            said.append(f"{row.path}, line {row.line}: {student!r} has handed in nothing{hint}")
        return said


# ---- course.toml ----


def read(path: Path | None, labs: Iterable[str]) -> Term:
    """`labs`: the numbers of those that there are."""
    if path is None:
        return Term()
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except OSError as error:
        raise mistake(path, 0, error.strerror or str(error)) from error
    except ValueError as error:
        raise _unreadable(path, str(error)) from error
    return _Reader(path, text, tuple(labs)).term(found)


def _unreadable(path: Path, says: str) -> LabError:
    """tomllib names the line; what stands there tells more than what a parser had expected."""
    found = re.search(r" \(at line (\d+), column \d+\)", says)
    if not found:
        return mistake(path, 0, says)
    lines = path.read_text(encoding="utf-8").splitlines()
    stands = lines[int(found[1]) - 1 : int(found[1])]
    example = "text stands in quotes, and a time as 2026-11-20T23:59:00 without: month 1 to 12"
    what = f"{stands[0].strip()!r} cannot be read" if stands else "it ends too early"
    return mistake(path, int(found[1]), f"{what} ({says.replace(found[0], '')}); {example}")


@dataclass(frozen=True)
class _Reader:
    path: Path
    text: str
    labs: tuple[str, ...]

    def term(self, found: dict[str, Any]) -> Term:
        term = Term(leaderboard=self.truth("leaderboard", found.pop("leaderboard", False)))
        for name, value in found.items():
            if name in (*_MOST, *_WHOLE):
                term.numbers[name] = self.number(name, value)
            elif name == "feedback":
                term.feedback[""] = self.feedback("", value)
            elif name in FILES:
                term.files[name] = self.file(name, value)
            elif name != "labs" or not isinstance(value, dict):
                known = ", ".join([*_MOST, *_WHOLE, "feedback", "leaderboard", *FILES, "[labs.03]"])
                raise self.wrong(
                    "", name, f"{name} = {value!r} is not a setting; the settings are {known}"
                )
        for name, says in found.get("labs", {}).items():
            self.lab(term, name, says)
        return term

    def lab(self, term: Term, name: str, says: object) -> None:
        lab = number_of(name)
        if lab not in self.labs:
            raise self.wrong(f"labs.{name}", "", _no_lab(name, self.labs))
        if not isinstance(says, dict) or not says:
            example = "[labs.03] and below it deadline = 2026-11-20T23:59:00"
            raise self.wrong("labs", name, f"write {example}, not {name} = {says!r}")
        for key, value in says.items():
            if key == "deadline":
                term.deadlines[lab] = self.time(f"labs.{name}", key, value)
            elif key == "feedback":
                term.feedback[lab] = self.feedback(f"labs.{name}", value)
            else:
                known = "a lab has deadline and feedback"
                raise self.wrong(f"labs.{name}", key, f"{key} = {value!r}: {known}")

    def truth(self, name: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise self.wrong("", name, f"{name} = {value!r}; it is true or false")
        return value

    def number(self, name: str, value: object) -> float:
        kinds = (int,) if name in _WHOLE else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not in_range(name, value):
            raise self.wrong("", name, f"{name} = {value!r}; it is {range_of(name)}")
        return value

    def time(self, section: str, key: str, value: object) -> float:
        found = moment(value.isoformat() if isinstance(value, datetime) else str(value))
        if found is None:
            raise self.wrong(section, key, f"{key}: {no_time(str(value))}")
        return found

    def feedback(self, section: str, value: object) -> str | float:
        if value in (AT_ONCE, AFTER_DEADLINE):
            return str(value)
        found = moment(str(value))
        if found is None:
            says = f'feedback = {value!r}; it is "{AT_ONCE}", "{AFTER_DEADLINE}" or a time as '
            raise self.wrong(section, "feedback", f"{says}2026-11-27T09:00")
        return found

    def file(self, name: str, value: object) -> Path:
        if not isinstance(value, str) or not (self.path.parent / value).is_file():
            raise self.wrong("", name, f"{name} = {value!r} is not a file beside {self.path.name}")
        return self.path.parent / value

    def wrong(self, section: str, key: str, says: str) -> LabError:
        return mistake(self.path, _line(self.text, section, key), says)


def _line(text: str, section: str, key: str) -> int:
    """Where a key of a section stands, or without a key the section; 0 where that is not seen."""
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[([^\[\]]+)\]", line)
        if head:
            current = re.sub(r"[\s\"']", "", head[1])
            if current == section and not key:
                return number
        elif key and current == section and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return 0


def in_range(name: str, value: float) -> bool:
    most = _MOST.get(name)
    return value >= 0 and (most is None or value <= most)


def range_of(name: str) -> str:
    if name in _WHOLE:
        return "a whole number of days, 0 or more"
    return "a number of per cent, 0 to 100" if _MOST[name] else "a number of minutes, 0 or more"


def settled(term: Term, typed: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of the term's file; what is typed counts in their place."""
    numbers = dict(term.numbers)
    for name in _MOST:
        if typed.get(name) is not None:
            if not in_range(name, typed[name]):
                option = {"grace_minutes": "--grace"}.get(name, f"--{name.replace('_', '-')}")
                says = f"{option} {typed[name]:g}: it is {range_of(name)}."
                raise LabError(says, ExitStatus.USAGE)
            numbers[name] = typed[name]
    return numbers


def grave_cap(term: Term, typed: Mapping[str, Any]) -> float:
    return settled(term, typed).get("grave_cap", grave.CAP)


def policy(term: Term, typed: Mapping[str, Any], extensions: dict[Key, float]) -> LatePolicy:
    """Of the term's file; what is typed (`deadline`, and numbers by the file's names) counts in
    its place."""
    numbers = settled(term, typed)
    slip_days = int(numbers.get("slip_days", 0))
    deadline = typed.get("deadline")
    return LatePolicy(
        deadline,
        numbers.get("grace_minutes", 0.0),
        numbers.get("late", 0.0),
        numbers.get("late_cap", 100.0),
        extensions,
        {} if deadline else term.deadlines,
        slip_days,
        int(numbers.get("slip_days_a_lab", slip_days)),
    )


# ---- tables ----


def read_tables(files: Mapping[str, Path], labs: Iterable[str]) -> Tables:
    """`files` by what they hold (FILES); a table that is not there is empty."""
    found = Tables(read_roster(files.get("students")))
    reader = _Lines(files, tuple(labs), found.named)
    for student in found.roster:
        found.joined(student)
    for key, row in reader.each("times", "submitted"):
        found.times[key] = _time(row, "submitted")
    for key, row in reader.each("extensions", "until"):
        _once(found.extensions, key, row, "extension")
        found.extensions[key] = _time(row, "until")
    for key, row in reader.each("withdrawn"):
        found.withdrawn[key] = row.get("why", "")
    for key, row in reader.each("requests", "lab", "asked"):
        asked = _time(row, "asked")
        found.requests[key] = Request(asked, row.get("why", ""), row.get("answer", ""))
    for key, row in reader.each("questions", "lab", "points"):
        found.questions[key] = (_points(row), row.get("comment", ""))
    for key, row in reader.each("groups", "partner"):
        _pair(found, key, row)
    return found


@dataclass(frozen=True)
class _Lines:
    files: Mapping[str, Path]
    labs: tuple[str, ...]
    named: list[tuple[Row, str]]

    def each(self, name: str, *needed: str) -> Iterable[tuple[Key, Row]]:
        path = self.files.get(name)
        rows = read_table(path, ("student", *needed)) if path else []
        for column in rows[0] if rows else ():
            like = difflib.get_close_matches(column, _COLUMNS[name], 1)
            if like and column not in _COLUMNS[name] and like[0] not in rows[0]:
                raise mistake(rows[0].path, 1, f"column {column!r}: is it {like[0]!r}")
        for row in rows:
            student, lab = spelt(row["student"]), number_of(row.get("lab", ""))
            if not student:
                raise row.mistake("no student stands there")
            if lab not in ("", *self.labs) or (row.get("lab") and not lab):
                raise row.mistake(_no_lab(row["lab"], self.labs))
            if "lab" in needed and not lab:
                raise row.mistake(f"it names no lab; there are {', '.join(self.labs)}")
            self.named.append((row, student))
            yield (student, lab), row


def _pair(found: Tables, key: Key, row: Row) -> None:
    student, lab = key
    other = spelt(row["partner"])
    if other == student:
        raise row.mistake(f"a group is two students, and {student!r} stands there twice")
    for one, with_ in ((student, other), (other, student)):
        if one:
            _once(found.groups, (one, lab), row, "group")
            found.groups[one, lab] = with_
    if other:
        found.named.append((row, other))


def _once(found: Mapping[Key, object], key: Key, row: Row, what: str) -> None:
    if key in found:
        which = f"lab {key[1]}" if key[1] else "all labs"
        raise row.mistake(f"{key[0]!r} has another {what} for {which} in a line above")


def _time(row: Row, column: str) -> float:
    found = moment(row[column])
    if found is None:
        raise row.mistake(f"{column}: {no_time(row[column])}")
    return found


def _points(row: Row) -> Decimal:
    try:
        points = Decimal(row["points"])
        if not points.is_finite():
            raise InvalidOperation(points)
    except InvalidOperation as error:
        raise row.mistake(f"points: {row['points']!r} is not a number; write 2 or 2.5") from error
    return points


def spelt(student: str) -> str:
    """As packages spell it (ingest.py)."""
    return unicodedata.normalize("NFC", student)


def number_of(lab: str) -> str:
    """ "03" of 3, lab3 or lab03; "" of anything else."""
    found = re.fullmatch(r"(?:lab *)?(\d{1,2})", lab.strip(), re.IGNORECASE)
    return found[1].zfill(2) if found else ""


def _no_lab(name: str, labs: tuple[str, ...]) -> str:
    return f"there is no lab {name!r}; there are {', '.join(labs)}"


def shown(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
