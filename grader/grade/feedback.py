# SPDX-License-Identifier: MIT
"""What a student reads: the mark, what each task's tests found, and of hidden tests how many there
are, which kind fails, and which sentences of the contract those look at, never more."""

from collections.abc import Mapping
from typing import Any

from grader.course.grave import named
from grader.grade.archive import printable
from grader.grade.page import Block, Code, Heading, Paragraph, Table

Json = dict[str, Any]


def number(value: float | None) -> str:
    return "no mark" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def pages(
    who: str, rows: list[Json], labs: dict[str, Json], held: Mapping[str, str] | None = None
) -> list[Block]:
    """One student's feedback on the labs that count; `labs` are results' labs by name. Of the
    labs in `held` nothing is told but when it will be."""
    blocks: list[Block] = [Heading(f"Feedback for {printable(who)}", 1)]
    if not rows:
        blocks.append(Paragraph("Nothing was handed in."))
    for row in rows:
        when = (held or {}).get(row["lab"])
        blocks += _held(row, labs[row["lab"]], when) if when else _lab(row, labs[row["lab"]])
    return blocks


def _held(row: Json, lab: Json, when: str) -> list[Block]:
    there = "Nothing was handed in" if row["status"] == "nothing submitted" else "Handed in"
    heading = Heading(f"Lab {row['lab'].removeprefix('lab')}: {lab['title']}")
    return [heading, Paragraph(f"{there}. Mark and feedback are shown from {when} on.")]


def _lab(row: Json, lab: Json) -> list[Block]:
    number_ = row["lab"].removeprefix("lab")
    blocks: list[Block] = [Heading(f"Lab {number_}: {lab['title']}")]
    blocks.append(Paragraph(_mark_line(row), "mark"))
    blocks += [Paragraph(line) for line in _remarks(row)]
    if row["status"] == "compile error":
        blocks.append(Code(row["compiler"]))
        blocks.append(Paragraph("Nothing was run. The first error is the one to mend."))
    if row["cases"]:
        blocks.append(_tasks(row))
        blocks += [block for case in _shown(row) for block in _case(case)]
        blocks += _hidden(row)
    return blocks


def _mark_line(row: Json) -> str:
    if row["mark"] is None:
        return "No mark yet: the grader failed, which is not your fault."
    return f"{number(row['mark'])} of {row['possible']} points ({row['status']})"


def _remarks(row: Json) -> list[str]:
    lines = []
    if row["message"] and row["mark"] is not None:
        lines.append(f"{row['message']}.")
    if row.get("grave"):
        lines.append(f"{grave_line(row)}.")
    late = row["late"]
    if late["days"]:
        days = f"{late['days']} day{'s' if late['days'] > 1 else ''}"
        slip = f", {late['slip']} of them slip days" if late.get("slip") else ""
        lines.append(f"{days} late{slip}: {number(late['points'])} of {_left(row)} points off.")
    if row["questions"]:
        said = f": {row['questions']['comment']}" if row["questions"]["comment"] else "."
        lines.append(f"Word questions: {number(row['questions']['points'])} points{said}")
    if row["file"] and row["sha256"]:
        lines.append(f"Graded: {row['file']}, SHA-256 {row['sha256'][:16]}...")
    if request := row.get("request"):
        asked = request["asked"].replace("T", " ").replace(":00Z", " UTC")
        why = f" ({request['why']})" if request["why"] else ""
        lines.append(f"You asked on {asked} to be graded again{why}: this is the result.")
        lines += [f"Answer: {request['answer']}"] if request["answer"] else []
    return lines + [f"Note: {note}." for note in row["notes"]]


def grave_line(row: Json) -> str:
    """Which grave mistakes there are and what they cost, without a full stop."""
    grave = row["grave"]
    most = f"{number(grave['at_most'])} of {row['possible']} points"
    off = (
        f"{number(grave['points'])} points off"
        if grave["points"]
        else "the tests give no more anyway"
    )
    found = named(grave["kinds"])
    return f"The tests found {found}: a lab with such a mistake gets at most {most} ({off})"


def _left(row: Json) -> str:
    """The points that lateness takes its part of."""
    grave = row.get("grave")
    return number(row["points"] - (grave["points"] if grave else 0))


def _tasks(row: Json) -> Table:
    """A line a task, its public and its hidden tests counted apart."""
    lines = []
    for todo in sorted({case["todo"] for case in row["cases"]}, key=lambda n: (n == 0, n)):
        mine = [case for case in row["cases"] if case["todo"] == todo]
        points = sum(case["points"] for case in mine)
        possible = sum(case["possible"] for case in mine)
        counts = [_count(mine, hidden=False), _count(mine, hidden=True)]
        name = f"task {todo}" if todo else "the lab as a whole"
        lines.append([name, *counts, f"{points} of {possible}"])
    return Table(["", "tests passed", "hidden tests passed", "points"], lines, frozenset({3}))


def _count(cases: list[Json], *, hidden: bool) -> str:
    chosen = [case for case in cases if case["hidden"] == hidden]
    passed = sum(case["status"] == "pass" for case in chosen)
    return f"{passed} of {len(chosen)}" if chosen else ""


def _shown(row: Json) -> list[Json]:
    return [case for case in row["cases"] if not case["hidden"] and case["status"] != "pass"]


def _case(case: Json) -> list[Block]:
    blocks: list[Block] = [Heading(f"{case['case']}: {case['status']}", 3)]
    if case["title"]:
        blocks.append(Paragraph(f"What must hold: {case['title']}."))
    blocks.append(Code(case["message"]))
    for label, key in (("Why", "why"), ("The node says", "explained"), ("Where", "where")):
        if case[key]:
            blocks.append(Paragraph(f"{label}: {case[key]}"))
    if case["said"]:
        blocks.append(Paragraph("Your program's last words:"))
        blocks.append(Code(case["said"]))
    for key in ("feedback", "next"):
        if case[key]:
            blocks.append(Paragraph(f"Next: {case[key]}" if key == "next" else case[key]))
    return blocks


def _hidden(row: Json) -> list[Block]:
    """How many, and which kinds fail; no name, no message, no value."""
    hidden = [case for case in row["cases"] if case["hidden"]]
    if not hidden:
        return []
    failed = [case for case in hidden if case["status"] != "pass"]
    kinds = sorted({case["category"] for case in failed})
    text = f"{len(hidden)} hidden tests, details withheld: {len(hidden) - len(failed)} passed"
    if not failed:
        return [Paragraph(f"{text}.")]
    text += f". Those that did not are about: {'; '.join(kinds)}."
    if all(case["status"] == "pass" for case in row["cases"] if not case["hidden"]):
        text = f"All public tests passed. {text}"
    said = [[sentence] for sentence in promises(failed)]
    return [
        Paragraph(text),
        *([Table(["Where they look, in the contract's words"], said)] if said else []),
    ]


def promises(failed: list[Json]) -> list[str]:
    """The sentences of the contract that hidden tests which failed look at, each once."""
    return list(dict.fromkeys(sentence for case in failed for sentence in case["promises"]))
