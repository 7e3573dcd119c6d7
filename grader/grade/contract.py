# SPDX-License-Identifier: MIT
"""Of a package, only what a lab's contract names: the one file that a student edits.

Everything else that was handed in is left where it is: build files, headers, tests and solutions
of a submission are never looked at.
"""

import json
import re
from pathlib import PurePosixPath

from grader.course.mutants import student_files
from grader.course.project import Lab, Project
from grader.grade.archive import printable
from grader.grade.model import Package, Rejected, Submission

HINTS = "hints.json"
_MOST_HINTS = 4096  # bytes
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def file_of(project: Project, lab: Lab) -> str:
    """The name of the file that the lab's students edit."""
    (path,) = student_files(project.solutions_dir / lab.folder)
    return path.name


def is_named(path: str, file: str) -> bool:
    """Is it this file, by a name that a careless system might have changed?"""
    return PurePosixPath(path).name.casefold() == file.casefold()


def submission(package: Package, lab: Lab, file: str, only_lab: bool) -> Submission:
    """What `package` has for `lab`. `only_lab`: the class handed in this lab and no other."""
    notes = list(package.notes)
    path, contents, problem = "", None, package.problem
    if not problem:
        try:
            path = _pick(package, lab, file, notes, only_lab)
            contents = normal(package.files[path], file, notes) if path else None
        except Rejected as error:
            contents, problem = None, str(error)
    there = bool(path or problem)
    hints = _hints(package, lab, notes) if there else None
    return Submission(
        student=package.student,
        name=package.name,
        lab=lab,
        file=file,
        contents=contents,
        source=package.source,
        submitted=package.times.get(path, package.submitted) if there else None,
        commit=package.commit,
        notes=tuple(notes),
        problem=problem,
        hints=hints,
    )


def counts(submission: Submission, *, asked: bool) -> bool:
    """Whether a lab counts for this student: it was asked for, or handed in (or what was handed in
    cannot be taken, so that nobody knows)."""
    return asked or is_handed_in(submission)


def is_handed_in(submission: Submission) -> bool:
    return submission.contents is not None or bool(submission.problem)


def is_hints(path: str) -> bool:
    """What `./lab submit --hints` adds: labs/NN-name/hints.json."""
    parts = PurePosixPath(path).parts
    return parts[-1] == HINTS and re.fullmatch(r"\d\d-[a-z0-9-]+", parts[-2:][0]) is not None


def _hints(package: Package, lab: Lab, notes: list[str]) -> tuple[tuple[str, int], ...] | None:
    """How many hints of each task the student asked for, where that is told."""
    found = [path for path in package.files if is_hints(path) and f"{lab.folder}/" in path]
    if not found:
        return None
    try:
        told = json.loads(package.files[min(found)][:_MOST_HINTS])
        asked = tuple(sorted((str(task), int(count)) for task, count in told.items()))
        if all(re.fullmatch(r"\d{1,2}", task) and 0 <= count <= 9 for task, count in asked):
            return asked
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    notes.append(f"{HINTS} is not what ./lab submit --hints writes, and was left out")
    return None


def _pick(package: Package, lab: Lab, file: str, notes: list[str], only: bool) -> str:
    """Which of the package's files; "" for none. The best place counts: labs/NN-name/, then a
    folder of the lab's name, then any."""
    places: dict[int, dict[str, bytes]] = {}
    for path, contents in package.files.items():
        if is_named(path, file):
            places.setdefault(_place(path, lab), {})[path] = contents
    if not places:
        return _under_another_name(package, file, notes) if only else ""
    best = places[min(places)]
    if len(set(best.values())) > 1:
        names = " and ".join(printable(path) for path in sorted(best))
        raise Rejected(f"there are two different {file}: {names}")
    path = min(best)
    if PurePosixPath(path).name != file:
        notes.append(f"{printable(PurePosixPath(path).name)} was taken for {file}")
    return path


def _under_another_name(package: Package, file: str, notes: list[str]) -> str:
    """A single file of the right kind, called as its author liked."""
    suffix = PurePosixPath(file).suffix
    found = [path for path in package.files if path.lower().endswith(suffix)]
    if len(found) != 1:
        return ""
    notes.append(f"{printable(found[0])} was taken for {file}")
    return found[0]


def _place(path: str, lab: Lab) -> int:
    parts = PurePosixPath(path).parts
    if parts[-3:-1] == ("labs", lab.folder):
        return 0
    return 1 if len(parts) > 1 and parts[-2] == lab.folder else 2


def normal(contents: bytes, file: str, notes: list[str]) -> bytes:
    """The text with Unix line ends and without a byte-order mark. Rejected: it is no text."""
    for mark, encoding in _BOMS:
        if contents.startswith(mark):
            notes.append(f"{file}: a byte-order mark ({encoding}) was removed")
            text = contents[len(mark) :].decode(encoding, "replace")
            contents = text.encode("utf-8", "replace")
            break
    if b"\r" in contents:
        notes.append(f"{file}: line ends were changed to Unix's")
        contents = re.sub(rb"\r\n?", b"\n", contents)
    if b"\0" in contents:
        raise Rejected(f"{file} is not a text file")
    return contents
