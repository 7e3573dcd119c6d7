# SPDX-License-Identifier: MIT
"""Whose submission is it? The names that learning platforms give, and a pattern of one's own.

    Canvas   lovelaceada_LATE_10234_998877_p2p_copy.c     name, user, submission, file
    Moodle   Ada Lovelace_10234_assignsubmission_file_     name, participant (a folder)
             Ada Lovelace_10234_assignsubmission_file_p2p_copy.c    (without folders)
    else     the name without an archive's ending

Canvas puts -1, -2 behind the name of a file that was handed in again.
"""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.grade import archive

CANVAS = re.compile(r"(?P<name>[^_]+)(_LATE)?_(?P<student>\d+)_(question_\d+_)?\d+_(?P<file>.+)")
MOODLE = re.compile(
    r"(?P<name>.+)_(?P<student>\d+)_assignsubmission_(file|onlinetext)_?(?P<file>.*)"
)


@dataclass(frozen=True)
class Layout:
    student: str
    name: str = ""
    file: str = ""  # what the student called it, where the platform changed the name


def identify(name: str, pattern: re.Pattern[str] | None = None) -> Layout:
    """`pattern` has a group `student`, and may have `name` and `file`."""
    for known in (pattern, CANVAS, MOODLE):
        found = known.fullmatch(name) if known else None
        if found:
            groups = found.groupdict()
            file = re.sub(r"-\d+(\.[A-Za-z]+)$", r"\1", groups.get("file") or "")
            return Layout(groups["student"], groups.get("name") or "", file)
    plain = archive.stem(name)
    return Layout(plain if plain != name else re.sub(r"\.(c|cu)$", "", name))


def compile_pattern(text: str) -> re.Pattern[str] | None:
    if not text:
        return None
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise LabError(f"--pattern {text!r}: {error}", ExitStatus.USAGE) from error
    if "student" not in pattern.groupindex:
        raise LabError(f"--pattern {text!r} has no group (?P<student>...)", ExitStatus.USAGE)
    return pattern


class Row(dict[str, str]):
    """A line of a table, that knows where it stands."""

    def __init__(self, path: Path, line: int, cells: dict[str, str]) -> None:
        super().__init__(cells)
        self.path, self.line = path, line

    def mistake(self, says: str) -> LabError:
        return mistake(self.path, self.line, says)


def mistake(path: Path, line: int, says: str) -> LabError:
    """What is wrong in a file that an instructor wrote; line 0: somewhere in it."""
    where = f"{path}, line {line}" if line else str(path)
    return LabError(
        f"{where}: {says}.\nCorrect it and run the same command again. Nothing was graded, and "
        "what was graded before stays.",
        ExitStatus.USAGE,
    )


def read_table(path: Path, needed: tuple[str, ...]) -> list[Row]:
    """The rows of a CSV with a heading; its columns' names in small letters. Empty lines and lines
    that begin with # are left out."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise mistake(path, 0, str(error)) from error
    lines = csv.reader(text.splitlines())
    head = [name.strip().lower() for name in next(lines, [])]
    lacking = [name for name in needed if name not in head]
    if lacking:
        says = f"it has no column {', '.join(lacking)}; it has {', '.join(head) or 'nothing'}"
        raise mistake(path, 1, says)
    rows = []
    for cells in lines:
        if not any(cells) or cells[0].startswith("#"):
            continue
        if len(cells) > len(head):
            says = f"{len(cells)} fields under {len(head)} headings; quote a field that has commas"
            raise mistake(path, lines.line_num, says)
        filled = [*cells, *[""] * (len(head) - len(cells))]
        found = {name: cell.strip() for name, cell in zip(head, filled, strict=True)}
        rows.append(Row(path, lines.line_num, found))
    return rows


def read_roster(path: Path | None) -> dict[str, Row]:
    """The class, by student: columns student, name, email; `match` is what the platform's names
    for them hold, where that is not the student's id; `joined` is since when, for who came late."""
    found: dict[str, Row] = {}
    for row in read_table(path, ("student",)) if path else ():
        if row["student"] in found:
            raise row.mistake(
                f"{row['student']!r} stands in line {found[row['student']].line}, too"
            )
        if row["student"]:
            found[row["student"]] = row
    return found
