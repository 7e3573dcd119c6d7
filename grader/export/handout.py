# SPDX-License-Identifier: MIT
"""`./lab handout OUT.zip`: the course as students get it, without solutions, hidden tests, mutants
and the project's own tests.

    skeletons/               in place of solutions/: the labs once more, which ./lab reset puts back
    reference/PROCESSOR/     the reference's functions as objects, so that a test of TODO(3) can
                             call TODO(1) before it is written
    reference/NN-name/       of a lab that others use and that is not in the archive: its header and
                             given files

An object is machine code for one kind of processor, without lines, types and this machine's paths.
Disassembling it reveals no more than the published course, with which --jplag compares. On other
machines, and with real GPUs, every function of a runner is the student's own.
"""

import json
import platform
from pathlib import Path, PurePosixPath

from grader.base.exits import ExitStatus, LabError
from grader.course.mutants import student_files
from grader.course.project import Lab, Project
from grader.course.sync import digest, handed_out, is_secret, manifest_text
from grader.course.tree import files_of, read, write_zip
from grader.export import reference
from grader.grade.course import build_trusted, folders_used

FOLDER = "peerlab"
Contents = dict[str, tuple[bytes, int]]
_LEFT_OUT = (
    "solutions",
    "zero-plan",
    "tests",
    "bench",
    "labs",
    ".ci",
    ".github",
    "CONTRIBUTING.md",
)
_GRADING = (
    *("grader/grade/", "grader/export/", "grader/tests/", "grader/selfcheck/"),
    "grader/commands/grade.py",
    "grader/commands/closing_lines.py",
)
_HIDDEN = "docs/samples/"  # a class's report names hidden tests


def handout(project: Project, target: Path, labs: list[Lab], *, build: bool = True) -> int:
    """Writes the archive; returns how many files it has."""
    found = contents(project, labs, build=build)
    check(found, places(project))
    write_zip(target, {f"{FOLDER}/{name}": entry for name, entry in found.items()})
    return len(found)


def contents(project: Project, labs: list[Lab], *, build: bool) -> Contents:
    """The files of the archive, not checked yet."""
    used = _build(project, labs, build=build)
    found = {name: read(project, name) for name in files_of(project) if not _is_left_out(name)}
    found["docs/seeds.json"] = (_without_hidden(found["docs/seeds.json"][0]), 0o644)
    found |= _skeletons(project, labs)
    for lab in used:
        found |= _built_upon(project, lab)
    for lab in {*labs, *used}:
        name = f"reference/{platform.machine()}/{lab.folder}.o"
        found[name] = (reference.packed(project, lab), 0o644)
    return found


def _build(project: Project, labs: list[Lab], *, build: bool) -> list[Lab]:
    """Builds the references; returns the labs on which these build and that are not among them."""
    if build:
        build_trusted(project, labs)
    folders = {folder for lab in labs for folder in folders_used(project, lab)}
    used = [lab for lab in project.labs() if lab.folder in folders and lab not in labs]
    if build and used:
        build_trusted(project, used)
    return used


def _skeletons(project: Project, labs: list[Lab]) -> Contents:
    contents: Contents = {}
    hashes = {}
    for lab in labs:
        for path, data in handed_out(project, lab).items():
            contents[f"labs/{path}"] = contents[f"skeletons/{path}"] = (data, 0o644)
            hashes[path] = digest(data)
    contents["labs/.generated.json"] = (manifest_text(hashes).encode(), 0o644)
    declared = (project.solutions_dir / "CMakeLists.txt").read_bytes()
    contents["skeletons/CMakeLists.txt"] = (declared, 0o644)
    return contents


def _built_upon(project: Project, lab: Lab) -> Contents:
    """A lab's sources except its tests and the file that students edit."""
    own = {
        f"{lab.folder}/{path.name}" for path in student_files(project.solutions_dir / lab.folder)
    }
    return {
        f"reference/{path}": (data, 0o644)
        for path, data in handed_out(project, lab).items()
        if path not in own and path.count("/") == 1 and not path.endswith(".md")
    }


def _without_hidden(seeds: bytes) -> bytes:
    """The tests that cover a row, without the names of hidden ones, which reveal what they test."""
    read = json.loads(seeds)
    for row in read["rows"]:
        row["ran"] = [name for name in row["ran"] if ".hidden." not in name]
    return (json.dumps(read, indent=2, ensure_ascii=False) + "\n").encode()


def _is_left_out(name: str) -> bool:
    return PurePosixPath(name).parts[0] in _LEFT_OUT or name.startswith((*_GRADING, _HIDDEN))


def places(project: Project) -> set[bytes]:
    """Folders of this machine, which must not occur in the archive."""
    folders = (project.root, project.build_dir)
    return {str(place).encode() for path in folders for place in (path, path.resolve())}


def check(contents: Contents, places: set[bytes]) -> None:
    """Checks that the archive contains nothing that students must not have, whatever its name, and
    that no object contains one of the places."""
    for name, (data, _) in contents.items():
        inside = name.startswith(("labs/", "skeletons/", "reference/"))
        if PurePosixPath(name).name.startswith("hidden") or (inside and is_secret(name, data)):
            why = "must not be handed out"
        elif name.endswith(".o") and any(place in data for place in places):
            why = "holds a path of this machine"
        else:
            continue
        raise LabError(f"{name} {why}; nothing was written", ExitStatus.FAILED)
