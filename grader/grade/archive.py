# SPDX-License-Identifier: MIT
"""Reads archives and folders of students without believing a word of them.

ingest.py calls this in a process with limits of its own (contained.py). Nothing is ever unpacked to
disk: names are checked, and the contents of files that a lab might ask for are read into memory up
to a limit. What climbs out, links out or collides is rejected, not sanitised; a link that stays
inside is ignored, as is what editors and systems leave behind.
"""

import io
import lzma
import os
import stat
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.grade.model import Rejected

MOST_FILES = 5000
MOST_BYTES = 1 << 20  # of one file that is read
MOST_ARCHIVE = 64 << 20
MOST_UNPACKED = 256 << 20  # of a tarball: to come to its end all of it has to be unpacked
SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
MOST_HEADER = 8 << 10  # of a tar header that says more about the next: a name, attributes
_JUNK = frozenset({"__MACOSX", ".git", ".hg", ".svn", "build", ".venv", ".deps", "__pycache__"})
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
)
Wanted = Callable[[str], bool]


@dataclass(frozen=True)
class Entry:
    """A name in an archive or folder, checked, with a way to its contents."""

    path: str
    read: Callable[[int], bytes]  # at most so many bytes
    mtime: float | None = None


def is_archive(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def stem(name: str) -> str:
    """The name without an archive's ending."""
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def read_entries(name: str, contents: bytes, most: int = MOST_FILES) -> list[Entry]:
    """The files of an archive, without junk. Rejected: it is damaged, or its names are hostile."""
    try:
        found = _zip(contents) if name.lower().endswith(".zip") else _tar(contents)
        return checked(found, most)
    except _DAMAGED as error:
        raise Rejected(f"{printable(name)} cannot be read as an archive: {error}") from error
    except (ValueError, NotImplementedError, RuntimeError) as error:  # encrypted, odd methods
        raise Rejected(f"{printable(name)} cannot be read: {error}") from error


def walk(folder: Path) -> list[Entry]:
    """The files of a folder, links never followed."""
    return checked(_walk(folder), MOST_FILES)


def take(entries: list[Entry], wanted: Wanted) -> dict[str, bytes]:
    """The contents of the entries that `wanted` picks by path."""
    files: dict[str, bytes] = {}
    for entry in entries:
        if wanted(entry.path):
            files[entry.path] = _within_limit(entry, MOST_BYTES)
    return files


def contents_of(entry: Entry) -> bytes:
    """Of an archive in an archive."""
    return _within_limit(entry, MOST_ARCHIVE)


def _within_limit(entry: Entry, limit: int) -> bytes:
    try:
        data = entry.read(limit + 1)
    except _DAMAGED as error:
        raise Rejected(f"{printable(entry.path)} cannot be read: {error}") from error
    except (RuntimeError, NotImplementedError) as error:  # encrypted, an unknown method
        raise Rejected(f"{printable(entry.path)} cannot be read: {error}") from error
    if len(data) > limit:
        raise Rejected(f"{printable(entry.path)} is larger than {limit} bytes")
    return data


def checked(found: Iterator[Entry], most: int) -> list[Entry]:
    """All entries but junk; every name is checked, junk or not."""
    entries: dict[str, Entry] = {}
    for count, entry in enumerate(found, 1):
        if count > most:
            raise Rejected(f"it holds more than {most} files")
        _check_name(entry.path)
        parts = PurePosixPath(entry.path).parts
        if _JUNK.intersection(parts) or parts[-1] == ".DS_Store" or parts[-1].startswith("._"):
            continue
        folded = unicodedata.normalize("NFC", entry.path).casefold()
        if folded in entries:
            pair = f"{printable(entries[folded].path)} and {printable(entry.path)}"
            raise Rejected(f"two of its files have the same name: {pair}")
        entries[folded] = entry
    return list(entries.values())


def _check_name(path: str) -> None:
    parts = path.replace("\\", "/").split("/")
    climbs = ".." in parts or path.startswith(("/", "\\")) or (len(path) > 1 and path[1] == ":")
    if climbs or "\\" in path:
        raise Rejected(f"the name {printable(path)} leads out of the archive")
    if not path or "\0" in path or len(path) > 1000:
        raise Rejected(f"the name {printable(path)[:80]} cannot be the name of a file")


def _zip(contents: bytes) -> Iterator[Entry]:
    archive = zipfile.ZipFile(io.BytesIO(contents))
    for info in archive.infolist():
        mode = info.external_attr >> 16
        if stat.S_ISLNK(mode):
            _check_link(info.filename, archive.open(info).read(4096).decode(errors="replace"))
        elif not info.is_dir():
            _check_kind(info.filename, mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG))
            yield Entry(info.filename, lambda n, info=info: archive.open(info).read(n))
        else:
            _check_name(info.filename.rstrip("/") or "/")


class _Header(tarfile.TarInfo):
    """A member whose extended headers are short: the library reads them whole and with patterns
    whose time grows with the square of their length, before it tells anybody of the member."""

    _EXTENDED = frozenset(
        {
            tarfile.GNUTYPE_LONGNAME,
            tarfile.GNUTYPE_LONGLINK,
            tarfile.XHDTYPE,
            tarfile.XGLTYPE,
            tarfile.SOLARIS_XHDTYPE,
        }
    )

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """The library's entry point for subclasses (tarfile.py says so), once a header."""
        if not 0 <= self.size <= MOST_HEADER and self.type in self._EXTENDED:
            raise Rejected(
                f"it holds an extended header of {self.size} bytes; {MOST_HEADER >> 10} KiB are "
                "enough for any name"
            )
        found: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return found


def _tar(contents: bytes) -> Iterator[Entry]:
    archive = tarfile.TarFile.open(fileobj=io.BytesIO(contents), tarinfo=_Header)
    unpacked = 0
    for info in archive:
        unpacked += info.size
        if unpacked > MOST_UNPACKED:
            raise Rejected(f"unpacked it is larger than {MOST_UNPACKED >> 20} MiB")
        if info.issym() or info.islnk():
            _check_link(info.name, info.linkname, hard=info.islnk())
        elif info.isdir():
            _check_name(_plain(info.name) or ".")
        else:
            _check_kind(info.name, not info.isreg())
            yield Entry(_plain(info.name), lambda n, info=info: _extract(archive, info, n))


def _plain(name: str) -> str:
    """`tar -C folder -c .` puts ./ in front of every name."""
    while name.startswith("./"):
        name = name[2:].lstrip("/") if name != "./" else ""
    return name


def _extract(archive: tarfile.TarFile, info: tarfile.TarInfo, most: int) -> bytes:
    file = archive.extractfile(info)
    return file.read(most) if file else b""


def _walk(folder: Path) -> Iterator[Entry]:
    for where, folders, names in os.walk(folder, followlinks=False):
        inside = Path(where).relative_to(folder)
        folders[:] = sorted(name for name in folders if name not in _JUNK)
        for name in sorted([*names, *folders]):
            path = Path(where) / name
            shown = (inside / name).as_posix()
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                _check_link(shown, str(path.readlink()))
            elif not stat.S_ISDIR(mode):
                _check_kind(shown, not stat.S_ISREG(mode))
                yield Entry(shown, lambda n, path=path: read_beneath(path, n))
        folders[:] = [name for name in folders if not (Path(where) / name).is_symlink()]


def read_beneath(path: Path, most: int) -> bytes:
    """Of a regular file that is no link; a pipe put there meanwhile blocks nobody."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Rejected(f"{printable(path.name)} is not a regular file")
        return file.read(most)


def _check_link(path: str, target: str, *, hard: bool = False) -> None:
    """Links inside are ignored; out of the archive there is no way."""
    _check_name(path)
    base = PurePosixPath() if hard else PurePosixPath(path).parent
    end = os.path.normpath(base / target)
    if target.startswith("/") or end == ".." or end.startswith("../"):
        link = f"{printable(path)} -> {printable(target)}"
        raise Rejected(f"it holds a link that leads out of it: {link}")


def _check_kind(path: str, odd: object) -> None:
    if odd:
        raise Rejected(f"{printable(path)} is neither a file nor a folder")


def printable(text: str) -> str:
    """For a terminal, a table or a page: no control characters, none that turn text around."""
    return "".join(c if c.isprintable() and unicodedata.category(c) != "Cf" else "?" for c in text)
