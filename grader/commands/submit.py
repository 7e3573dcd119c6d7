# SPDX-License-Identifier: MIT
"""`./lab submit 03`: packs the files of a lab that ./lab grade accepts, lists them, and tests
exactly the packed text.

Grading accepts one file per lab: the one with the TODOs (grader/grade/contract.py). A file that it
would refuse is refused here, with the reason.
"""

import hashlib
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.course.project import Lab, Project
from grader.course.sync import read_manifest
from grader.course.tree import write_zip
from grader.learning import standing, testing

HINTS = "hints.json"  # as in grader/grade/contract.py
MOST_BYTES = 1 << 20  # limit of a graded file, as in grader/grade/archive.py


@dataclass(frozen=True)
class Packed:
    """The contents of an archive by name."""

    path: Path
    files: dict[str, bytes]


def command(
    project: Project, lab: Lab, output: Path | None, *, test: bool, hints: bool = False
) -> ExitStatus:
    """`hints`: the learner discloses how many were shown; otherwise the archive does not contain
    it."""
    target = output or project.root / "build" / "submit" / f"{lab.name}.zip"
    packed = pack(project, lab, target, hints=hints)
    print(say("submit.packed", archive=_shown(project, packed.path)))
    for name, contents in packed.files.items():
        digest = hashlib.sha256(contents).hexdigest()[:12]
        lines = contents.count(b"\n")
        print(say("submit.file", name=name, lines=lines, bytes=len(contents), digest=digest))
    if hints:
        asked = asked_hints(project, lab)
        words = ", ".join(f"{task}: {count}" for task, count in asked.items()) or "-"
        print(say("submit.hints", words=words))
    if not test:
        return ExitStatus.OK
    print()
    status = testing.command(project, lab.number, then=False)
    _check_unchanged(project, packed)
    known = status in (ExitStatus.OK, ExitStatus.FAILED, ExitStatus.NOT_WRITTEN)
    print(say("submit.passed" if status is ExitStatus.OK else "submit.not-passed"))
    return ExitStatus.OK if known else status


def student_file(project: Project, lab: Lab) -> str:
    """The name of the one file that the lab's students edit: the one with TODOs in the skeleton. A
    handout has no solutions to derive it from."""
    folder = project.solutions_dir / lab.folder
    marks = ("BEGIN SOLUTION", "    TODO(")
    found = [
        path.name
        for path in sorted(folder.iterdir())
        if path.suffix in (".c", ".cu")
        and any(mark in path.read_text(encoding="utf-8") for mark in marks)
    ]
    if len(found) != 1:
        names = ", ".join(found) or "none"
        raise LabError(say("submit.no-file", lab=lab.number, files=names), ExitStatus.MISSING)
    return found[0]


def asked_hints(project: Project, lab: Lab) -> dict[str, int]:
    """By task, as `./lab hint` has counted them in .lab/ of this checkout."""
    known = standing.load(project).hints
    split = ((*task.partition("."), count) for task, count in sorted(known.items()))
    return {task: count for number, _, task, count in split if number == lab.number}


def pack(project: Project, lab: Lab, target: Path, *, hints: bool = False) -> Packed:
    """Writes the archive and reads it back. LabError: nothing to submit, or nothing to grade."""
    name = f"{lab.folder}/{student_file(project, lab)}"
    try:
        contents = (project.labs_dir / name).read_bytes()
    except OSError as error:
        raise LabError(
            say("submit.gone", file=f"labs/{name}", lab=lab.number), ExitStatus.NO_MATCH
        ) from error
    if len(contents) > MOST_BYTES:
        raise LabError(say("submit.large", file=f"labs/{name}", most=MOST_BYTES))
    if b"\0" in contents and not contents.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise LabError(say("submit.no-text", file=f"labs/{name}"))
    if read_manifest(project).get(name) == hashlib.sha256(contents).hexdigest():
        raise LabError(
            say("submit.untouched", file=f"labs/{name}", lab=lab.number), ExitStatus.NOT_WRITTEN
        )
    files = {f"labs/{name}": contents}
    if hints:
        text = json.dumps(asked_hints(project, lab)) + "\n"
        files[f"labs/{lab.folder}/{HINTS}"] = text.encode()
    write_zip(target, {path: (data, 0o644) for path, data in files.items()})
    with zipfile.ZipFile(target) as archive:
        return Packed(target, {info: archive.read(info) for info in archive.namelist()})


def _check_unchanged(project: Project, packed: Packed) -> None:
    """Fails if the file changed between test and packing."""
    for name, contents in packed.files.items():
        if not name.endswith(f"/{HINTS}") and (project.root / name).read_bytes() != contents:
            packed.path.unlink()
            raise LabError(say("submit.changed", file=name))


def _shown(project: Project, path: Path) -> str:
    resolved = path.resolve()
    inside = resolved.is_relative_to(project.root)
    return str(resolved.relative_to(project.root)) if inside else str(path)
