# SPDX-License-Identifier: MIT
"""results.json in the forms that other systems read: one file a student and system.

Each exporter takes a student's rows (results.py) and gives a text, or None where that system has no
way to say "no mark, by no fault of the student's": then nothing is handed over, and whatever mark
is there stays.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.export import autolab, classroom50, coderunner, gradescope, junit, prairielearn
from grader.grade.journal import write_whole
from grader.grade.names import file_name
from grader.grade.sheets import by_student

Json = dict[str, Any]


@dataclass(frozen=True)
class Format:
    """`write` gets the results' head, a student's rows, and the environment of the system's runner
    (Classroom 50 names the assignment there)."""

    file: str  # what the system calls it
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
    if "all" in chosen:
        return list(FORMATS)
    unknown = [name for name in chosen if name not in FORMATS]
    if unknown:
        known = ", ".join([*FORMATS, "all"])
        raise LabError(f"--export {unknown[0]}: known are {known}.", ExitStatus.USAGE)
    return chosen


def write_all(
    results: Json, names: list[str], folder: Path, environment: Mapping[str, str]
) -> list[Path]:
    """Writes folder/FORMAT/STUDENT/FILE for every student; a file of before, of somebody who has no
    mark now, is left as it is."""
    written = []
    for name in names:
        form = FORMATS[name]
        for student, rows in by_student(results).items():
            text = form.write(results, list(rows.values()), environment) if rows else None
            if text is not None:
                path = folder / name / file_name(student) / form.file
                write_whole(path, text)
                written.append(path)
    return written
