# SPDX-License-Identifier: MIT
"""The results as CSV: wide, with a line a student, and long, with a line a case.

A mark that there is not is an empty field, never 0. What text can do in a table, cells.py prevents.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from grader.grade.cells import table

Json = dict[str, Any]


def wide(results: Json) -> str:
    return table(_wide(results))


def _wide(results: Json) -> Iterator[list[object]]:
    labs = [lab["lab"] for lab in results["labs"]]
    head = ["student", "name", "total", "possible"]
    for lab in labs:
        columns = ("points", "grave", "late", "questions", "status")
        head += [lab, *(f"{lab} {column}" for column in columns)]
    yield list(head)
    called = names(results)
    for student, rows in by_student(results).items():
        marks = [row["mark"] for row in rows.values()]
        total = None if None in marks or not marks else round(sum(marks), 2)
        possible = sum(row["possible"] for row in rows.values())
        line: list[object] = [student, called[student], total, possible]
        for lab in labs:
            line += _lab_columns(rows.get(lab))
        yield line


def _lab_columns(row: Json | None) -> list[object]:
    if row is None:
        return [""] * 6
    asked = row["questions"]["points"] if row["questions"] else ""
    grave = row["grave"]["points"] if row["grave"] else 0
    return [row["mark"], row["points"], grave, row["late"]["points"], asked, row["status"]]


def long(results: Json) -> str:
    return table(_long(results))


def _long(results: Json) -> Iterator[list[object]]:
    head = ["student", "lab", "case", "hidden", "todo", "status", "points", "possible", "message"]
    yield list(head)
    for row in results["rows"]:
        whole = [row["student"], row["lab"], "", "", "", row["status"], row["points"]]
        yield [*whole, row["possible"], row["message"]]
        for case in row["cases"]:
            keys = ("case", "hidden", "todo", "status", "points", "possible", "message")
            yield [row["student"], row["lab"], *(case[key] for key in keys)]


class ByStudent:
    """Student to lab to row, in the order of results, one student's rows at a time. A student who
    handed in nothing that counts has no rows."""

    def __init__(self, results: Json) -> None:
        self.results = results

    def __len__(self) -> int:
        return len(self.results["students"])

    def items(self) -> Iterator[tuple[str, dict[str, Json]]]:
        """Students and rows are both in the order of the students' ids (results.py)."""
        rows = groupby(self.results["rows"], key=lambda row: row["student"])
        student, mine = next(rows, (None, iter(())))
        for one in names(self.results):
            if one != student:
                yield one, {}
                continue
            yield one, {row["lab"]: row for row in mine}
            student, mine = next(rows, (None, iter(())))
        if student is not None:
            raise ValueError(f"rows of {student!r} are out of order, or no student has this id")


def by_student(results: Json) -> ByStudent:
    return ByStudent(results)


def names(results: Json) -> dict[str, str]:
    return {one["student"]: one["name"] for one in results["students"]}


def handed_in(results: Json, lab: str) -> list[str]:
    """Who handed in this lab."""
    return [one["student"] for one in results["students"] if lab in one["handed_in"]]
