# SPDX-License-Identifier: MIT
"""results.json in the formats that other systems read: one file per student and system, or one per
lab for gradebooks (imports.py).

Each exporter converts a student's rows (results.py) to a text, or None if that system cannot
express "no mark, for no fault of the student": then nothing is exported, and an existing mark
stays.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.export import (
    autolab,
    classroom50,
    coderunner,
    gradescope,
    imports,
    junit,
    prairielearn,
)
from grader.grade.journal import write_whole
from grader.grade.names import file_name
from grader.grade.sheets import by_student

Json = dict[str, Any]


@dataclass(frozen=True)
class Format:
    """`write` gets the results' head, a student's rows, and the environment of the system's runner
    (Classroom 50 passes the assignment there)."""

    file: str  # the name that the system requires
    write: Callable[[Json, list[Json], Mapping[str, str]], str | None]


FORMATS = {
    "gradescope": Format("results.json", gradescope.write),
    "classroom50": Format("result.json", classroom50.write),
    "prairielearn": Format("results.json", prairielearn.write),
    "autolab": Format("last-lines.txt", autolab.write),
    "coderunner": Format("grading.json", coderunner.write),
    "junit": Format("junit.xml", junit.write),
}


def formats(words: list[str]) -> list[str]:
    """The formats meant by "gradescope,junit" or "all"."""
    chosen = [name for word in words for name in word.split(",") if name]
    every = [*FORMATS, *imports.FORMS]
    if "all" in chosen:
        return every
    unknown = [name for name in chosen if name not in every]
    if unknown:
        known = ", ".join([*every, "all"])
        raise LabError(f"--export {unknown[0]}: known are {known}.", ExitStatus.USAGE)
    return chosen


def write_all(
    results: Json, names: list[str], folder: Path, environment: Mapping[str, str]
) -> list[Path]:
    """Writes folder/FORMAT/STUDENT/FILE for every student; keeps an earlier file of a student who
    has no mark now."""
    written = []
    for name in (name for name in names if name in FORMATS):
        form = FORMATS[name]
        for student, rows in by_student(results).items():
            text = form.write(results, list(rows.values()), environment) if rows else None
            if text is not None:
                path = folder / name / file_name(student) / form.file
                write_whole(path, text)
                written.append(path)
    return written
