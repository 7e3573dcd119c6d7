# SPDX-License-Identifier: MIT
"""The results as CSV: wide, with a line a student, and long, with a line a case.

A mark that there is not is an empty field, never 0. Text that a spreadsheet would run as a formula
gets an apostrophe in front, as spreadsheets themselves do.
"""

import csv
import io
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]


def wide(results: Json) -> str:
    labs = [lab["lab"] for lab in results["labs"]]
    head = ["student", "name", "total", "possible"]
    for lab in labs:
        head += [lab, f"{lab} points", f"{lab} late", f"{lab} questions", f"{lab} status"]
    lines: list[list[object]] = [head]
    for student, rows in by_student(results).items():
        marks = [row["mark"] for row in rows.values()]
        total = None if None in marks or not marks else round(sum(marks), 2)
        possible = sum(row["possible"] for row in rows.values())
        line: list[object] = [student, next(iter(rows.values()))["name"], total, possible]
        for lab in labs:
            line += _lab_columns(rows.get(lab))
        lines.append(line)
    return _text(lines)


def _lab_columns(row: Json | None) -> list[object]:
    if row is None:
        return ["", "", "", "", ""]
    asked = row["questions"]["points"] if row["questions"] else ""
    return [row["mark"], row["points"], row["late"]["points"], asked, row["status"]]


def long(results: Json) -> str:
    head = ["student", "lab", "case", "hidden", "todo", "status", "points", "possible", "message"]
    lines: list[list[object]] = [head]
    for row in results["rows"]:
        whole = [row["student"], row["lab"], "", "", "", row["status"], row["points"]]
        lines.append([*whole, row["possible"], row["message"]])
        for case in row["cases"]:
            keys = ("case", "hidden", "todo", "status", "points", "possible", "message")
            lines.append([row["student"], row["lab"], *(case[key] for key in keys)])
    return _text(lines)


def by_student(results: Json) -> dict[str, dict[str, Json]]:
    """Student to lab to row, in the order of results."""
    found: dict[str, dict[str, Json]] = {}
    for row in results["rows"]:
        found.setdefault(row["student"], {})[row["lab"]] = row
    return found


def _text(lines: Iterable[list[object]]) -> str:
    to = io.StringIO()
    writer = csv.writer(to, lineterminator="\r\n")
    writer.writerows([_harmless(field) for field in line] for line in lines)
    return to.getvalue()


def _harmless(field: object) -> object:
    if field is None:
        return ""
    if isinstance(field, str) and field[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{field}"
    return field
