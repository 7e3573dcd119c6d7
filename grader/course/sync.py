# SPDX-License-Identifier: MIT
"""Writes the skeletons of labs/ from solutions/ and never overwrites a learner's work.

Of a lab, the file that learners edit and the rubric are generated: the solution without its
answers, and the rubric without hidden cases. All else of labs/NN-name/ is given: it stands only
there.

labs/.generated.json holds the hash of every file as it is handed out. It is committed with the
labs, so a file with another hash was edited by hand: such a skeleton is reported and left alone,
unless `force` is given.
"""

import hashlib
import json
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from grader.base.exits import LabError
from grader.course.committed import committed_files
from grader.course.project import Lab, Project
from grader.course.strip import strip_solution

MANIFEST = ".generated.json"
RUBRIC = "tests/rubric.json"
_GIVEN = ("*.md", "*.[ch]", "*.cu")
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
    """The state of a lab's file, compared with what is handed out."""

    CURRENT = "current"
    MISSING = "missing"
    STALE = "stale"  # as generated last, but the solution has changed
    EDITED = "edited"


@dataclass
class SyncReport:
    """The result of a sync, by path below labs/."""

    states: dict[str, State] = field(default_factory=dict)  # of generated files
    list_is_old: bool = False  # labs/.generated.json names other hashes than these files'

    def those(self, state: State) -> list[str]:
        return sorted(path for path, found in self.states.items() if found is state)


def generate(project: Project, lab: Lab) -> dict[str, bytes]:
    """The files of labs/NN-name/ that its solution generates: path below labs/ to contents."""
    source = project.solutions_dir / lab.folder
    files: dict[str, bytes] = {}
    for path in sorted(entry for entry in source.rglob("*") if entry.is_file()):
        inside = path.relative_to(source).as_posix()
        if not any(fnmatch(inside, pattern) for pattern in _LEFT_OUT):
            text = path.read_text(encoding="utf-8")
            skeleton = strip_solution(text, f"solutions/{lab.folder}/{inside}").encode()
            files[f"{lab.folder}/{inside}"] = (
                _public_rubric(skeleton) if inside == RUBRIC else skeleton
            )
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


def is_given(path: str) -> bool:
    """Whether a path below labs/ can be a file that stands only there."""
    inside = path.partition("/")[2]
    return any(fnmatch(inside, pattern) for pattern in _GIVEN) and inside.count("/") < 2


def is_secret(path: str, contents: bytes) -> bool:
    """Whether a file has an answer or a hidden test."""
    return PurePosixPath(path).name.startswith("hidden") or b"BEGIN SOLUTION" in contents


def handed_out(project: Project, lab: Lab) -> dict[str, bytes]:
    """All files of labs/NN-name/ as learners get them: path below labs/ to contents."""
    found = (path for path in (project.labs_dir / lab.folder).rglob("*") if path.is_file())
    paths = {path.relative_to(project.labs_dir).as_posix(): path for path in found}
    given = {name: path.read_bytes() for name, path in paths.items() if is_given(name)}
    return dict(sorted(given.items())) | generate(project, lab)


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
    """The state of what the solutions of `labs` generate, as it is in the working tree."""
    before = read_manifest(project)
    report = SyncReport()
    for lab in labs:
        for path, contents in generate(project, lab).items():
            report.states[path] = _state(project.labs_dir / path, contents, before.get(path))
        listed = {path: old for path, old in before.items() if path.startswith(f"{lab.folder}/")}
        report.list_is_old |= listed != _hashes(project, lab)
    return report


def sync(project: Project, labs: list[Lab], *, force: bool = False) -> SyncReport:
    """Brings `labs` up to date. The report has each file's state before; files reported as EDITED
    were left alone unless `force`."""
    report = compare(project, labs)
    hashes = read_manifest(project)
    for lab in labs:
        for path, contents in generate(project, lab).items():
            state = report.states[path]
            if state in (State.MISSING, State.STALE) or (state is State.EDITED and force):
                _write(project, lab, path, contents)
        hashes = {path: old for path, old in hashes.items() if path.split("/")[0] != lab.folder}
        hashes |= _hashes(project, lab)
    _write_manifest(project, hashes)
    return report


def _hashes(project: Project, lab: Lab) -> dict[str, str]:
    return {path: digest(contents) for path, contents in handed_out(project, lab).items()}


def reset(project: Project, lab: Lab) -> dict[str, str]:
    """Restores the lab's skeleton, and given files that were edited or deleted, from git's index or
    from a handout's skeletons. Each edited file is kept beside it as NAME.bakN; returns which copy
    holds which file (paths below labs/)."""
    committed = committed_files(project.root, f"labs/{lab.folder}") or {}
    given = {f"{lab.folder}/{path}": contents for path, contents in committed.items()}
    wanted = {path: contents for path, contents in given.items() if is_given(path)}
    before = read_manifest(project)
    kept: dict[str, str] = {}
    for path, contents in (wanted | generate(project, lab)).items():
        target = project.labs_dir / path
        state = _state(target, contents, before.get(path))
        if state is State.EDITED:
            copy = _free_backup(target)
            target.rename(copy)
            kept[path] = copy.relative_to(project.labs_dir).as_posix()
        if state is not State.CURRENT:
            _write(project, lab, path, contents)
    return kept


def _state(path: Path, contents: bytes, old: str | None) -> State:
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        return State.MISSING
    if found == contents:
        return State.CURRENT
    return State.STALE if digest(found) == old else State.EDITED


def _write(project: Project, lab: Lab, path: str, contents: bytes) -> None:
    target = project.labs_dir / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(contents)
    source = project.solutions_dir / lab.folder / path.split("/", 1)[1]
    if source.is_file():
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
