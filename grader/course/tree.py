# SPDX-License-Identifier: MIT
"""Packing a checkout: the files that belong to it, and reproducible zip archives."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import capture
from grader.course.project import Project

_NEVER = frozenset(
    {".git", "build", ".venv", ".deps", ".lab", "__pycache__", ".ruff_cache", "Testing"}
)
_DATE = (2026, 1, 1, 0, 0, 0)


def files_of(project: Project) -> list[str]:
    """The checkout's files, relative to its root: git's, or without git all but those of builds. A
    learner's additional files are not included."""
    listed = capture(["git", "ls-files", "-z", "--cached"], cwd=project.root)
    own = capture(["git", "rev-parse", "--show-prefix"], cwd=project.root)
    if listed.ok and own.ok and not own.output.strip():
        names = [name for name in listed.output.split("\0") if name]
    else:
        names = list(_walk(project.root, project.root))
    return sorted(name for name in names if (project.root / name).is_file())


def _walk(folder: Path, root: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        if path.name in _NEVER or path.is_symlink():
            continue
        if path.is_dir():
            yield from _walk(path, root)
        else:
            yield path.relative_to(root).as_posix()


def write_zip(target: Path, contents: dict[str, tuple[bytes, int]]) -> None:
    """`contents` has bytes and mode by name. The archive's bytes depend on nothing else."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(contents):
                data, mode = contents[name]
                info = zipfile.ZipInfo(name, _DATE)
                info.external_attr = (0o100000 | mode) << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, data)
    except OSError as error:
        raise LabError(f"{target} cannot be written: {error}", ExitStatus.USAGE) from error


def read(project: Project, name: str) -> tuple[bytes, int]:
    path = project.root / name
    return path.read_bytes(), 0o755 if path.stat().st_mode & 0o100 else 0o644
