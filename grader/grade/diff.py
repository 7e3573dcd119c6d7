# SPDX-License-Identifier: MIT
"""What changed between two gradings: which marks, and why."""

import heapq
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.course.grave import named
from grader.grade import published
from grader.grade.database import NAME
from grader.grade.results import SCHEMA

Json = dict[str, Any]
Key = tuple[str, str]  # student, lab


def read_results(path: Path) -> Json:
    """Of an output folder, a results.sqlite or a results.json."""
    if path.is_dir():  # one that an earlier version made has no results.sqlite
        path /= NAME if (path / NAME).exists() else "results.json"
    if path.suffix == ".sqlite":
        return published.read(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LabError(f"{path} cannot be read as results: {error}", ExitStatus.USAGE) from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise LabError(f"{path}: its schema is {found!r}, expected {SCHEMA!r}", ExitStatus.USAGE)
    return data


def changes(old: Json, new: Json) -> list[str]:
    """A line for each student and lab whose mark or status changed, and lines with the reasons."""
    lines = []
    for key, was, now in _pairs(old, new):
        if was and now and (was["mark"], was["status"]) == (now["mark"], now["status"]):
            continue
        lines.append(f"{key[0]} {key[1]}: {_short(was)} -> {_short(now)}")
        if was and now:
            lines += [f"    {reason}" for reason in _reasons(was, now, old, new)]
    return lines


def gains(old: Json, new: Json) -> list[Json]:
    """Whose mark is another, and why: who loses most comes first."""
    found = []
    for _, was, now in _pairs(old, new):
        if was is None or now is None or was["mark"] == now["mark"]:
            continue
        both = was["mark"] is not None and now["mark"] is not None
        change = round(now["mark"] - was["mark"], 2) if both else None
        keys = {"student": now["student"], "lab": now["lab"]}
        marks = {"before": was["mark"], "after": now["mark"], "change": change}
        found.append({**keys, **marks, "why": "; ".join(_reasons(was, now, old, new))})
    return sorted(found, key=lambda one: (one["change"] is not None, one["change"] or 0))


def _pairs(old: Json, new: Json) -> Iterator[tuple[Key, Json | None, Json | None]]:
    """The rows of each student and lab in both, in their order; one of each at a time."""
    merged = heapq.merge(_keyed(old, 0), _keyed(new, 1), key=lambda one: one[0])
    for key, group in itertools.groupby(merged, key=lambda one: one[0]):
        found = {which: row for _, which, row in group}
        yield key, found.get(0), found.get(1)


def _keyed(results: Json, which: int) -> Iterator[tuple[Key, int, Json]]:
    return (((row["student"], row["lab"]), which, row) for row in results["rows"])


def _short(row: Json | None) -> str:
    if row is None:
        return "no row"
    mark = "no mark" if row["mark"] is None else f"{row['mark']:g}"
    return f"{mark} ({row['status']})"


def _reasons(was: Json, now: Json, old: Json, new: Json) -> list[str]:
    reasons = []
    if now["sha256"] and was["sha256"] != now["sha256"]:
        reasons.append("another file was handed in")
    reasons += [note for note in now["notes"] if note not in was["notes"]]
    if was.get("grave") != now.get("grave"):  # older results have no such field
        reasons.append(_grave(was.get("grave"), now.get("grave")))
    if was["late"] != now["late"]:
        slip = f", slip days: {now['late']['slip']}" if now["late"]["slip"] else ""
        off = f"{was['late']['points']:g} -> {now['late']['points']:g} points off"
        reasons.append(f"late: {off}{slip}")
    if was["questions"] != now["questions"]:
        reasons.append("the marks of the word questions")
    reasons += _cases(was, now)
    if now["message"] and now["message"] != was["message"]:
        reasons.append(now["message"].splitlines()[0])
    if _programs(old, now["lab"]) != _programs(new, now["lab"]):
        reasons.append("graded by other programs: the course was built anew")
    return reasons


def _grave(was: Json | None, now: Json | None) -> str:
    if now is None:
        return "no grave mistake any more, or its cap is off"
    before = was["points"] if was else 0
    return f"grave: {named(now['kinds'])}, {before:g} -> {now['points']:g} points off"


def _programs(results: Json, lab: str) -> str:
    return next((one["programs"] for one in results["labs"] if one["lab"] == lab), "")


def _cases(was: Json, now: Json) -> list[str]:
    before = {case["case"]: case for case in was["cases"]}
    lines: list[str] = []
    if not before or not now["cases"]:  # nothing was run: the statuses say it all
        return lines
    for case in now["cases"]:
        other = before.get(case["case"])
        if other is None:
            lines.append(f"{case['case']}: new, {case['status']}")
        elif (other["status"], other["points"]) != (case["status"], case["points"]):
            lines.append(
                f"{case['case']}: {other['status']} ({other['points']}) -> "
                f"{case['status']} ({case['points']} of {case['possible']})"
            )
    return lines
