# SPDX-License-Identifier: MIT
"""Shared by the exporters: a student's tests as other systems show them. Public cases one by one,
the hidden ones of a lab together."""

import re
from dataclasses import dataclass
from typing import Any

from grader.course.grave import named
from grader.grade.feedback import grave_line, number, promises

Json = dict[str, Any]
LONGEST = 4000  # most characters of one test's text


@dataclass(frozen=True)
class Test:
    name: str
    points: float
    possible: float
    passed: bool
    text: str
    lab: str
    number: str  # "3.2": the second test of task 3


def tests(rows: list[Json]) -> list[Test]:
    found: list[Test] = []
    for row in rows:
        found += _of_row(row)
    return found


def _of_row(row: Json) -> list[Test]:
    lab = row["lab"]
    if not row["cases"]:
        text = shortened("\n".join(filter(None, [row["message"], row["compiler"]])))
        return [Test(f"{lab}: {row['status']}", 0, row["possible"], False, text, lab, "1")]
    seen: dict[int, int] = {}
    found = []
    for case in (case for case in row["cases"] if not case["hidden"]):
        seen[case["todo"]] = seen.get(case["todo"], 0) + 1
        number = f"{case['todo']}.{seen[case['todo']]}"
        passed = case["status"] == "pass"
        title = f"{lab}.{case['case']}: {case['title']}" if case["title"] else case["case"]
        found.append(
            Test(title, case["points"], case["possible"], passed, _text(case), lab, number)
        )
    return found + _hidden(row)


def _text(case: Json) -> str:
    """What, why, where and what next; empty for a test that passed."""
    if case["status"] == "pass":
        return ""
    lines = [f"{case['status']}: {case['message']}"]
    lines += [case[key] for key in ("why", "explained", "where", "feedback", "next") if case[key]]
    return shortened("\n".join(lines))


def shortened(text: str) -> str:
    """At most LONGEST characters, and no word is cut."""
    if len(text) <= LONGEST:
        return text
    return re.sub(r"\S*$", "[cut here]", text[: LONGEST - len("[cut here]")])


def _hidden(row: Json) -> list[Test]:
    hidden = [case for case in row["cases"] if case["hidden"]]
    if not hidden:
        return []
    failed = [case for case in hidden if case["status"] != "pass"]
    kinds = "; ".join(sorted({case["category"] for case in failed}))
    text = f"{len(hidden) - len(failed)} of {len(hidden)} passed."
    text += f" Those that did not are about: {kinds}." if failed else ""
    if said := promises(failed):
        text = "\n- ".join([f"{text} They look at these sentences of the contract:", *said])
    return [
        Test(
            f"{row['lab']}: {len(hidden)} hidden tests, details withheld",
            sum(case["points"] for case in hidden),
            sum(case["possible"] for case in hidden),
            not failed,
            text,
            row["lab"],
            "9",
        )
    ]


def has_marks(rows: list[Json]) -> bool:
    return all(row["mark"] is not None for row in rows)


def total(rows: list[Json]) -> float:
    """The sum over rows that have marks."""
    return round(sum(row["mark"] for row in rows), 2)


def possible(rows: list[Json]) -> float:
    return sum(row["possible"] for row in rows)


def share(rows: list[Json]) -> float:
    """The marks' share of what was possible, from 0 to 1."""
    most = possible(rows)
    return max(0.0, min(1.0, total(rows) / most)) if most else 0.0


def comment(row: Json) -> str:
    """How it ended and what lateness cost, in one line of our words: nothing that a submission
    could have written."""
    days, points = row["late"]["days"], number(row["late"]["points"])
    late = f", {days} {'day' if days == 1 else 'days'} late: {points} points off" if days else ""
    off = number(row["grave"]["points"]) if row.get("grave") else ""
    grave = f", {named(row['grave']['kinds'])}: {off} points off" if off else ""
    return f"{row['status']}{grave}{late}"


def remarks(rows: list[Json]) -> str:
    """Lateness, text questions and notes, one line each."""
    lines = []
    for row in rows:
        if row.get("grave"):
            lines.append(f"{row['lab']}: {grave_line(row)}")
        if row["late"]["days"]:
            lines.append(f"{row['lab']}: {row['late']['points']:g} points off, late")
        if row["questions"]:
            lines.append(f"{row['lab']}: {row['questions']['points']:g} points, word questions")
        lines += [f"{row['lab']}: {note}" for note in row["notes"]]
    return "\n".join(lines)
