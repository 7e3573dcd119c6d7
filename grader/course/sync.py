# SPDX-License-Identifier: MIT
"""Writes labs/ from solutions/ and never overwrites a learner's work.

labs/.generated.json holds the hash of every file as it was last generated. It is committed with the
labs, so a file with another hash was edited by hand: such a file is reported and left alone, unless
`force` is given.
"""

import hashlib
import json
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatch
from pathlib import Path

from grader.base.exits import LabError
from grader.course.project import Lab, Project
from grader.course.strip import is_solution_only, strip_solution

MANIFEST = ".generated.json"
RUBRIC = "tests/rubric.json"
_LEFT_OUT = (
    "tests/hidden*",
    "tests/rubric.toml",
    "tests/contract.tsv",
    "*/.*",
    ".*",
    "*.o",
    "*~",
    "*.orig",
    "*.bak*",
    "*.pyc",
)


class State(Enum):
    """The state of a lab's file, compared with what its solution generates."""

    CURRENT = "current"
    MISSING = "missing"
    STALE = "stale"  # as generated last, but the solution has changed
    EDITED = "edited"
    GONE = "gone"  # generated once, no longer


@dataclass
class SyncReport:
    """The result of a sync, by path below labs/."""

    states: dict[str, State] = field(default_factory=dict)
    list_is_old: bool = False  # labs/.generated.json names other hashes than these files'

    def those(self, state: State) -> list[str]:
        return sorted(path for path, found in self.states.items() if found is state)


def generate(project: Project, lab: Lab) -> dict[str, bytes]:
    """The files of labs/NN-name/ as its solution generates them: path below labs/ to contents."""
    source = project.solutions_dir / lab.folder
    files: dict[str, bytes] = {}
    for path in sorted(entry for entry in source.rglob("*") if entry.is_file()):
        inside = path.relative_to(source).as_posix()
        if not any(fnmatch(inside, pattern) for pattern in _LEFT_OUT):
            skeleton = _skeleton(path.read_bytes(), f"solutions/{lab.folder}/{inside}")
            if skeleton is not None and inside == RUBRIC:
                skeleton = _public_rubric(skeleton)
            if skeleton is not None:
                files[f"{lab.folder}/{inside}"] = skeleton
    return files


def _public_rubric(contents: bytes) -> bytes:
    """Of hidden cases only their number and points, not the names, which reveal what they test. A
    rubric without any (a skeleton's) is unchanged."""
    rubric = json.loads(contents)
    hidden = [case for case in rubric["cases"] if case["case"].startswith("hidden.")]
    if not hidden:
        return contents
    rubric["cases"] = [case for case in rubric["cases"] if case not in hidden]
    rubric["hidden"] = {"cases": len(hidden), "points": sum(case["points"] for case in hidden)}
    return (json.dumps(rubric, indent=4) + "\n").encode()


def generate_all(project: Project) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for lab in project.labs():
        files.update(generate(project, lab))
    return files


def digest(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


def read_manifest(project: Project) -> dict[str, str]:
    """Path below labs/ to the hash of what was generated last; empty before the first sync."""
    path = project.labs_dir / MANIFEST
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError) as error:
        raise LabError(
            f"{path} is not the list of hashes that ./lab sync writes ({error}). "
            "Take the committed one back: git checkout -- labs/.generated.json"
        ) from error


def manifest_text(hashes: dict[str, str]) -> str:
    return json.dumps(hashes, indent=1, sort_keys=True) + "\n"


def compare(project: Project, labs: list[Lab]) -> SyncReport:
    """The state of the working tree's files of `labs`, compared with what their solutions
    generate."""
    before = read_manifest(project)
    report = SyncReport()
    wanted: dict[str, bytes] = {}
    for lab in labs:
        wanted.update(generate(project, lab))
    for path, contents in wanted.items():
        report.states[path] = _state(project.labs_dir / path, contents, before.get(path))
        report.list_is_old |= before.get(path) != digest(contents)
    folders = {lab.folder for lab in labs}
    for path, old in before.items():
        if path.split("/")[0] in folders and path not in wanted:
            report.states[path] = _gone(project.labs_dir / path, old)
    return report


def sync(project: Project, labs: list[Lab], *, force: bool = False) -> SyncReport:
    """Brings `labs` up to date. The report has each file's state before; files reported as EDITED
    were left alone unless `force`."""
    report = compare(project, labs)
    hashes = read_manifest(project)
    for lab in labs:
        for path, contents in generate(project, lab).items():
            hashes[path] = digest(contents)
            state = report.states[path]
            if state in (State.MISSING, State.STALE) or (state is State.EDITED and force):
                _write(project, lab, path, contents)
    for path in report.those(State.GONE):
        (project.labs_dir / path).unlink(missing_ok=True)
        hashes.pop(path, None)
    _write_manifest(project, hashes)
    return report


def reset(project: Project, lab: Lab) -> dict[str, str]:
    """Restores the lab's skeleton. Each edited file is kept beside it as NAME.bakN; returns which
    copy holds which file (paths below labs/)."""
    kept: dict[str, str] = {}
    for path in compare(project, [lab]).those(State.EDITED):
        copy = _free_backup(project.labs_dir / path)
        (project.labs_dir / path).rename(copy)
        kept[path] = copy.relative_to(project.labs_dir).as_posix()
    sync(project, [lab])
    return kept


def _skeleton(contents: bytes, name: str) -> bytes | None:
    """None for a file that is not for learners."""
    try:
        text = contents.decode("utf-8")
    except UnicodeDecodeError:
        return contents
    return None if is_solution_only(text) else strip_solution(text, name).encode("utf-8")


def _state(path: Path, contents: bytes, old: str | None) -> State:
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        return State.MISSING
    if found == contents:
        return State.CURRENT
    return State.STALE if digest(found) == old else State.EDITED


def _gone(path: Path, old: str) -> State:
    """A file that is not generated any more: GONE may be deleted, EDITED may not."""
    try:
        return State.GONE if digest(path.read_bytes()) == old else State.EDITED
    except FileNotFoundError:
        return State.GONE


def _write(project: Project, lab: Lab, path: str, contents: bytes) -> None:
    target = project.labs_dir / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(contents)
    source = project.solutions_dir / lab.folder / path.split("/", 1)[1]
    target.chmod(source.stat().st_mode & 0o777)


def _write_manifest(project: Project, hashes: dict[str, str]) -> None:
    """Writes only if it changes, so that a sync without changes touches nothing."""
    target = project.labs_dir / MANIFEST
    text = manifest_text(hashes)
    if hashes and (not target.is_file() or target.read_text(encoding="utf-8") != text):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def _free_backup(path: Path) -> Path:
    number = 1
    while (copy := path.with_name(f"{path.name}.bak{number}")).exists():
        number += 1
    return copy
