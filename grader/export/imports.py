# SPDX-License-Identifier: MIT
"""A lab's marks as gradebooks import them: one file a lab, export/FORMAT/LAB.csv.

    moodle      Grades, Import, CSV file (docs.moodle.org: "Grade import"; grade/import/csv)
    canvas      Gradebook, Import (lib/gradebook_importer.rb of canvas-lms)
    blackboard  Grade Center, Work Offline, Upload ("Uploading ... Items for Working Offline")
    ilias       an exercise's status file, which its plugin ExerciseStatusFile takes (status.csv)

Each system finds a student by a column of its own; the roster may have it, under the name in
brackets below, and otherwise it is the student's id. Who has no mark, or one that is withheld, has
no line: some of these systems take an empty field for "delete the mark".
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.export.parts import comment
from grader.grade.cells import cell, table
from grader.grade.feedback import number
from grader.grade.journal import write_whole

Json = dict[str, Any]
Key = tuple[str, str]  # a student and a lab


@dataclass(frozen=True)
class Mark:
    """`of` is the student's line of the roster, or nothing."""

    row: Json
    of: Mapping[str, str]

    @property
    def student(self) -> str:
        return self.row["student"]

    @property
    def name(self) -> str:
        return self.row["name"] or self.student

    @property
    def mark(self) -> str:
        """With a point, whatever the country: all of them read that."""
        return number(self.row["mark"])


def moodle(lab: Json, marks: Sequence[Mark]) -> str:
    """[username] [idnumber] [email]: one of them is chosen as "Map from". A user that Moodle does
    not find ends the whole import, so a column that some lack is left out."""
    title = _title(lab)
    keys = {
        "Username": [one.of.get("username", "") for one in marks],
        "ID number": [one.of.get("idnumber") or one.student for one in marks],
        "Email address": [one.of.get("email", "") for one in marks],
    }
    used = {head: found for head, found in keys.items() if all(found)}
    lines: list[list[object]] = [[*used, title, f"{title} (feedback)"]]
    for at, one in enumerate(marks):
        lines.append([*(found[at] for found in used.values()), one.mark, comment(one.row)])
    return table(lines)


def canvas(lab: Json, marks: Sequence[Mark]) -> str:
    """[canvas_id] [sis_user_id] [sis_login_id] [section]. Canvas looks for the assignment by its
    title; the second line says what is possible."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", _title(lab)]
    lines: list[list[object]] = [head, ["Points Possible", "", "", "", "", lab["points"]]]
    for one in marks:
        own = one.of.get("canvas_id") or (one.student if one.student.isdecimal() else "")
        login = one.of.get("sis_login_id") or one.student
        more = [one.of.get("sis_user_id", ""), login, one.of.get("section", "")]
        lines.append([one.name, own, *more, one.mark])
    return table(lines)


def blackboard(lab: Json, marks: Sequence[Mark]) -> str:
    """[username]. Every field in quotes. Blackboard knows a column that is there by the number at
    the end of its heading; one without a number is made, as text worth 0 points."""
    lines = [["Username", _title(lab)]]
    lines += [[one.of.get("username") or one.student, one.mark] for one in marks]
    return "".join(",".join(map(_quoted, line)) + "\r\n" for line in lines)


def ilias(lab: Json, marks: Sequence[Mark]) -> str:
    """[usr_id] [login] [lastname] [firstname]. The columns are read by their order, and a line
    without ILIAS's own number of the user is passed over. Whether a mark is a pass is not ours to
    say: "notgraded"."""
    head = ["update", "usr_id", "login", "lastname", "firstname", "status", "mark", "notice"]
    lines: list[list[object]] = [[*head, "comment", "plagiarism", "plag_comment"]]
    for one in (one for one in marks if one.of.get("usr_id", "").isdecimal()):
        names = [one.of.get("lastname") or one.name, one.of.get("firstname", "")]
        who = [one.of["usr_id"], one.of.get("login") or one.student, *names]
        lines.append(["1", *who, "notgraded", one.mark, "", comment(one.row), "", ""])
    return table(lines)


FORMS: dict[str, Callable[[Json, Sequence[Mark]], str]] = {
    "moodle": moodle,
    "canvas": canvas,
    "blackboard": blackboard,
    "ilias": ilias,
}


def write(
    results: Json,
    names: Collection[str],
    folder: Path,
    roster: Mapping[str, Mapping[str, str]],
    held: Collection[Key],
) -> None:
    for name in (name for name in names if name in FORMS):
        for lab in results["labs"]:
            marks = [
                Mark(row, roster.get(row["student"], {}))
                for row in results["rows"]
                if row["lab"] == lab["lab"] and row["mark"] is not None
                if (row["student"], row["lab"]) not in held
            ]
            write_whole(folder / name / f"{lab['lab']}.csv", FORMS[name](lab, marks))


def _title(lab: Json) -> str:
    return f"{lab['lab']} {lab['title']}"


def _quoted(text: str) -> str:
    return '"{}"'.format(cell(text).replace('"', '""'))
