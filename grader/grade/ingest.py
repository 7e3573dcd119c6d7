# SPDX-License-Identifier: MIT
"""From paths on the command line to one package a student, whatever becomes of it.

A path may be one submission (a folder or archive that holds a lab's file), a folder or archive of
submissions, or what Canvas or Moodle gave as "download all submissions" (layouts.py tells names).
Each package is read in a process of its own: one that cannot be read is its student's problem.
"""

import base64
import contextlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.grade import archive
from grader.grade.contained import MIB, Bounds, contained
from grader.grade.layouts import Layout, identify
from grader.grade.model import Package, Rejected
from grader.sandbox.readback import Refused, read_back

MOST_BATCH = 100_000  # files in an archive of submissions, all students together
# Of an archive of submissions: its packages are read by processes with bounds of their own.
BATCH = Bounds(2048 * MIB, cpu_seconds=300, wall_seconds=7200.0, output_bytes=1024 * MIB)


@dataclass(frozen=True)
class Intake:
    """How packages are found: `wanted` are the paths that may be a lab's file; `pattern` tells
    who it is from a name, where the layouts do not."""

    wanted: Callable[[str], bool]
    pattern: re.Pattern[str] | None = None
    loose: tuple[str, ...] = ()  # endings of single files that count as a lab's: (".c",)

    def packages(self, paths: Iterable[Path], *, one: bool = False) -> list[Package]:
        """By student. `one`: a path is a submission."""
        found: list[Package] = []
        for path in paths:
            who = identify(path.resolve().name, self.pattern)
            found += [self._one(path, who)] if one else self._from_path(path)
        return merged(found)

    # ---- a path ----

    def _from_path(self, path: Path) -> list[Package]:
        if path.is_dir():
            return self._from_folder(path)
        if not path.is_file():
            raise LabError(f"{path} is neither a file nor a folder.", ExitStatus.USAGE)
        if not archive.is_archive(path.name):
            return [self._one(path, identify(path.name, self.pattern))]
        try:
            found = contained(lambda: self._batch(path), BATCH)
        except (Rejected, OSError):
            found = None
        if found is None:
            return [self._one(path, identify(path.name, self.pattern))]
        return [_unpacked(package) for package in found]

    def _batch(self, path: Path) -> list[dict[str, Any]] | None:
        """The packages in an archive; None where it is a single submission."""
        entries = archive.read_entries(path.name, path.read_bytes(), MOST_BATCH)
        if any(_near_top(entry.path) and self.wanted(entry.path) for entry in entries):
            return None
        return [_packed(package) for package in self._from_batch(path, entries)]

    def _from_folder(self, folder: Path) -> list[Package]:
        """One submission where a lab's file lies in it or in its labs/; else one a child."""
        own = [*folder.iterdir(), *folder.glob("labs/*/*"), *folder.glob("[0-9][0-9]-*/*")]
        if any(self.wanted(path.relative_to(folder).as_posix()) for path in own):
            return [self._one(folder, identify(folder.resolve().name, self.pattern))]
        children = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        chosen = [path for path in children if path.name != "__MACOSX" and self._may_be(path)]
        return [self._one(path, identify(path.name, self.pattern)) for path in chosen]

    def _may_be(self, path: Path) -> bool:
        if path.is_symlink():
            return True  # named and rejected, not followed
        name = path.name
        return path.is_dir() or archive.is_archive(name) or self._is_loose(name)

    def _is_loose(self, name: str) -> bool:
        return name.lower().endswith(self.loose) if self.loose else False

    def _one(self, path: Path, who: Layout) -> Package:
        """A package of a path; what cannot be taken becomes its problem, never an exception."""
        package = Package(who.student, who.name, source=str(path))
        try:
            if path.is_symlink():
                raise Rejected("it is a link, not a file or folder")
            package.submitted = path.stat().st_mtime
            has_git = os.path.lexists(path / ".git")
            package.commit = contained(lambda: _commit(path)) if has_git else ""
            package.files = self._in_a_process(lambda: self._files(path, who))
            package.times = _times(path, package.files) if path.is_dir() else {}
        except (Rejected, OSError) as error:
            package.problem = _sentence(error)
        return package

    # ---- what is inside ----

    def _in_a_process(self, read: Callable[[], dict[str, bytes]]) -> dict[str, bytes]:
        return _decoded(contained(lambda: _encoded(read())))

    def _files(self, path: Path, who: Layout) -> dict[str, bytes]:
        if path.is_dir():
            return self._of_folder(path)
        if archive.is_archive(path.name):
            data = archive.read_beneath(path, archive.MOST_ARCHIVE + 1)
            return self._of_archive(path.name, data)
        return {who.file or path.name: archive.read_beneath(path, archive.MOST_BYTES + 1)}

    def _of_folder(self, folder: Path) -> dict[str, bytes]:
        """A student's folder; archives directly in it count as its contents (Moodle)."""
        entries = archive.walk(folder)
        files = archive.take(entries, self._takes)
        return files or self._nested([e for e in entries if archive.is_archive(e.path)])

    def _of_archive(self, name: str, data: bytes) -> dict[str, bytes]:
        if len(data) > archive.MOST_ARCHIVE:
            raise Rejected(f"the archive is larger than {archive.MOST_ARCHIVE >> 20} MiB")
        return archive.take(archive.read_entries(name, data), self._takes)

    def _takes(self, path: str) -> bool:
        return self.wanted(path) or ("/" not in path and self._is_loose(path))

    def _nested(self, entries: list[archive.Entry]) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        for entry in entries[:20]:
            inner = self._of_archive(entry.path, archive.contents_of(entry))
            files |= {f"{archive.stem(entry.path)}/{path}": data for path, data in inner.items()}
        return files

    def _from_batch(self, path: Path, entries: list[archive.Entry]) -> list[Package]:
        """An archive with a folder, an archive or a file a student."""
        groups: dict[str, list[archive.Entry]] = {}
        tops = {PurePosixPath(entry.path).parts[0] for entry in entries}
        depth = 1 if len(tops) == 1 and any("/" in entry.path for entry in entries) else 0
        for entry in entries:
            parts = PurePosixPath(entry.path).parts
            if len(parts) > depth:
                groups.setdefault(parts[depth], []).append(entry)
        return [
            self._of_group(path, name, group, "/".join([*tops][:depth]))
            for name, group in sorted(groups.items())
            if len(group) > 1 or "/" in group[0].path[depth and len(name) :] or self._may_name(name)
        ]

    def _may_name(self, name: str) -> bool:
        return archive.is_archive(name) or self._is_loose(name)

    def _of_group(self, path: Path, name: str, group: list[archive.Entry], top: str) -> Package:
        who = identify(name, self.pattern)
        package = Package(who.student, who.name, source=f"{path}: {archive.printable(name)}")
        package.submitted = path.stat().st_mtime
        try:
            package.files = self._in_a_process(lambda: self._files_of(name, who, group, top))
        except (Rejected, OSError) as error:
            package.problem = _sentence(error)
        return package

    def _files_of(
        self, name: str, who: Layout, group: list[archive.Entry], top: str
    ) -> dict[str, bytes]:
        prefix = f"{top}/{name}" if top else name
        if len(group) == 1 and group[0].path == prefix:
            data = archive.contents_of(group[0])
            return (
                self._of_archive(name, data)
                if archive.is_archive(name)
                else {who.file or name: data}
            )
        return archive.take(group, self._takes) or self._nested(
            [entry for entry in group if archive.is_archive(entry.path)]
        )


def _times(folder: Path, files: Iterable[str]) -> dict[str, float]:
    """When each file of a folder was handed in, or the archive that it came out of: a folder that
    gets the next lab's file has another time, and the labs before have not."""
    found = {}
    for name in files:
        top = PurePosixPath(name).parts[0]
        for candidate in (name, *(f"{top}{suffix}" for suffix in archive.SUFFIXES)):
            with contextlib.suppress(OSError):
                found[name] = (folder / candidate).lstat().st_mtime
                break
    return found


# ---- from one process to another, as JSON ----


def _encoded(files: dict[str, bytes]) -> dict[str, str]:
    return {path: base64.b64encode(data).decode("ascii") for path, data in files.items()}


def _decoded(files: dict[str, str]) -> dict[str, bytes]:
    return {path: base64.b64decode(data) for path, data in files.items()}


def _packed(package: Package) -> dict[str, Any]:
    return {**package.__dict__, "files": _encoded(package.files)}


def _unpacked(found: dict[str, Any]) -> Package:
    return Package(**{**found, "files": _decoded(found["files"])})


def merged(packages: Iterable[Package]) -> list[Package]:
    """By student; several packages of one student are one."""
    found: dict[str, Package] = {}
    for package in packages:
        package.student = _legible(package.student)
        if package.student in found:
            _merge(found[package.student], package)
        else:
            found[package.student] = package
    return [found[student] for student in sorted(found)]


def _legible(student: str) -> str:
    """One spelling of each name; bytes that are no UTF-8 as escapes."""
    whole = student.encode("utf-8", "backslashreplace").decode("utf-8")
    return unicodedata.normalize("NFC", whole)


def _near_top(path: str) -> bool:
    """Where a submission has its files; deeper, and it is the submission of a folder of them."""
    parts = PurePosixPath(path).parts
    return len(parts) == 1 or re.fullmatch(
        r"labs|\d\d-[a-z0-9-]+", parts[-2 if len(parts) == 2 else 0]
    )


def _merge(into: Package, more: Package) -> None:
    """Several uploads of one student. Paths stay apart, so that a contradiction shows."""
    into.problem = into.problem or more.problem
    into.notes += [note for note in more.notes if note not in into.notes]
    _fill_times(into)
    _fill_times(more)
    for path, contents in more.files.items():
        free = path
        while free in into.files and into.files[free] != contents:
            free = f"{more.source.rsplit('/', 1)[-1]}/{free}"
        into.files[free] = contents
        if path in more.times:
            into.times[free] = max(more.times[path], into.times.get(free, more.times[path]))
    times = [time for time in (into.submitted, more.submitted) if time is not None]
    into.submitted = max(times, default=None)
    into.source = f"{into.source}, {more.source}"


def _fill_times(package: Package) -> None:
    """Each file its own: the package's will be that of the last upload."""
    if package.submitted is not None:
        for path in package.files:
            package.times.setdefault(path, package.submitted)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"it cannot be read: {error.strerror or error}"
    return str(error)


def _commit(folder: Path) -> str:
    """Of a git checkout, read by hand: git itself would obey the student's configuration. No link
    is followed, so that it is this folder's commit and no other's."""
    head = _small(folder, ".git/HEAD")
    if head.startswith("ref: "):
        name = head[5:]
        if ".." in name.split("/") or name.startswith("/"):
            return ""
        head = _small(folder, f".git/{name}") or _listed(_small(folder, ".git/packed-refs"), name)
    return head if re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", head) else ""


def _small(folder: Path, name: str) -> str:
    try:
        return read_back(folder, name, 1 << 20).decode("utf-8", "replace").strip()
    except (OSError, Refused, ValueError):
        return ""


def _listed(text: str, name: str) -> str:
    found = re.search(rf"^([0-9a-f]+) {re.escape(name)}$", text, re.MULTILINE)
    return found.group(1) if found else ""
