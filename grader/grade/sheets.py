# SPDX-License-Identifier: MIT
"""The results as CSV: wide, with a line a student, and long, with a line a case.

A mark that there is not is an empty field, never 0. What text can do in a table, cells.py prevents.
"""

from typing import Any

from grader.grade.cells import table

Json = dict[str, Any]


def wide(results: Json) -> str:
    labs = [lab["lab"] for lab in results["labs"]]
    head = ["student", "name", "total", "possible"]
    for lab in labs:
        head += [lab, f"{lab} points", f"{lab} late", f"{lab} questions", f"{lab} status"]
    lines: list[list[object]] = [head]
    called = names(results)
    for student, rows in by_student(results).items():
        marks = [row["mark"] for row in rows.values()]
        total = None if None in marks or not marks else round(sum(marks), 2)
        possible = sum(row["possible"] for row in rows.values())
        line: list[object] = [student, called[student], total, possible]
        for lab in labs:
            line += _lab_columns(rows.get(lab))
        lines.append(line)
    return table(lines)


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
    return table(lines)


def by_student(results: Json) -> dict[str, dict[str, Json]]:
    """Student to lab to row, in the order of results. A student who handed in nothing that counts
    has no rows."""
    found: dict[str, dict[str, Json]] = {one["student"]: {} for one in results["students"]}
    for row in results["rows"]:
        found.setdefault(row["student"], {})[row["lab"]] = row
    return found


def names(results: Json) -> dict[str, str]:
    return {one["student"]: one["name"] for one in results["students"]}


def handed_in(results: Json, lab: str) -> list[str]:
    """Who handed in this lab."""
    return [one["student"] for one in results["students"] if lab in one["handed_in"]]
