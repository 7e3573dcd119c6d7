# SPDX-License-Identifier: MIT
"""The journal: one line for every submission that was begun or finished, only ever appended.

It is the one file that grading must not lose. A line is JSON with a checksum of what stands before
it, written at once and forced to disk; of a line that was torn by a crash nothing is believed.
Everything else in the output folder is made from it again. A lock keeps a second grader out.
"""

import contextlib
import errno
import fcntl
import json
import os
import re
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.grade.model import Run

FORMAT = 1
_SUM = re.compile(rb', "crc32": "([0-9a-f]{8})"}$')


@dataclass(frozen=True)
class Attempt:
    """A file that a student handed in for a lab, and the cache key of its latest run."""

    digest: str
    cache: str
    submitted: float | None
    seen: float


@dataclass
class Journal:
    """`runs` are the finished ones by cache key, `at` when they were; `latest` is the last cache
    key of a submission and its digest; `begun` counts beginnings without an end."""

    path: Path
    fd: int
    runs: dict[str, Run] = field(default_factory=dict)
    latest: dict[tuple[str, str], str] = field(default_factory=dict)  # of the same contents
    at: dict[str, float] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)
    attempts: dict[str, dict[str, Attempt]] = field(default_factory=dict)  # by submission, digest
    timed: list[dict[str, Any]] = field(default_factory=list)  # events of note_times
    damaged: int = 0

    def note_times(self, entry: dict[str, Any]) -> None:
        """What a submission's timed task took (leaderboard.py). Each is kept for good."""
        self.timed.append({"event": "timed", **entry})
        self._append(self.timed[-1])

    def seen(self, submission: str, digest: str, cache: str, submitted: float | None) -> None:
        """Notes what is handed in now, if that is another file than before or graded otherwise."""
        known = self.attempts.get(submission, {}).get(digest)
        if known and known.cache == cache:
            return
        names = {"submission": submission, "cache": cache, "digest": digest}
        entry = {"event": "seen", **names, "submitted": submitted, "at": round(time.time(), 3)}
        self._append(entry, forced=False)
        self._note(entry)

    def _note(self, entry: dict[str, Any]) -> None:
        mine = self.attempts.setdefault(entry["submission"], {})
        first = mine.get(entry["digest"])
        at, seen = entry["submitted"], entry["at"]
        if first:
            at, seen = first.submitted, first.seen
        mine[entry["digest"]] = Attempt(entry["digest"], entry["cache"], at, seen)

    def begin(self, submission: str, cache: str) -> None:
        self._append({"event": "begin", "submission": submission, "cache": cache})

    def end(self, submission: str, cache: str, digest: str, run: Run, at: float) -> None:
        """A run that broke on our side is written down, but never counts as a result."""
        names = {"submission": submission, "cache": cache, "digest": digest}
        entry = {"event": "end", **names, "at": round(at, 3), "run": run.to_json()}
        self._append(entry)
        self._take(entry)

    def before(self, submission: str, digest: str) -> Run | None:
        """An earlier result of the very same file, by whatever version of the course."""
        return self.runs.get(self.latest.get((submission, digest), ""))

    def _take(self, entry: dict[str, Any]) -> None:
        cache, run = entry["cache"], Run.from_json(entry["run"])
        self.begun[cache] = 0
        if not run.broken:
            self.runs[cache] = run
            self.at[cache] = entry["at"]
            self.latest[entry["submission"], entry["digest"]] = cache

    def _append(self, entry: dict[str, Any], *, forced: bool = True) -> None:
        text = json.dumps(entry, ensure_ascii=False, sort_keys=True)
        data = text.encode("utf-8", "backslashreplace")
        line = b'%s, "crc32": "%08x"}\n' % (data[:-1], zlib.crc32(data[:-1]))
        try:
            if os.write(self.fd, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if forced:
                os.fsync(self.fd)
        except OSError as error:
            raise LabError(
                f"{self.path} cannot be written: {error.strerror}. What it holds is safe: make "
                "room and run the same command again.",
                ExitStatus.HARNESS_ERROR,
            ) from error

    def load(self) -> None:
        data = self.path.read_bytes()
        for line in data.split(b"\n")[:-1]:
            entry = _entry(line)
            if entry is None:
                self.damaged += 1
            elif entry["event"] == "begin":
                self.begun[entry["cache"]] = self.begun.get(entry["cache"], 0) + 1
            elif entry["event"] == "end":
                self._take(entry)
            elif entry["event"] == "seen":
                self._note(entry)
            elif entry["event"] == "timed":
                self.timed.append(entry)
        if data and not data.endswith(b"\n"):
            os.write(self.fd, b"\n")  # the torn line ends here


def _entry(line: bytes) -> dict[str, Any] | None:
    """None for a line that is not whole."""
    try:
        found = _SUM.search(line)
        if found and int(found[1], 16) == zlib.crc32(line[: found.start()]):
            entry = json.loads(line)
            return entry if isinstance(entry, dict) else None
        if int(line[:8], 16) != zlib.crc32(line[9:]) or line[8:9] != b" ":  # as it was once
            return None
        entry = json.loads(line[9:])
        return entry if isinstance(entry, dict) else None
    except ValueError:
        return None


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Journal]:
    """The journal of an output folder, for this process alone."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "journal.jsonl"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise LabError(
                f"Another ./lab grade is writing to {folder}. Wait for it, or take another --out.",
                ExitStatus.USAGE,
            ) from error
        journal = Journal(path, fd)
        journal.load()
        yield journal
    finally:
        os.close(fd)


def write_whole(path: Path, text: str) -> None:
    """Replaces a file at once: whoever reads it finds the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, fresh = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(fd)
        Path(fresh).chmod(0o644)
        Path(fresh).replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(fresh).unlink()
        raise LabError(
            f"{path} cannot be written: {error.strerror}. The journal is whole: make room and run "
            "the same command again.",
            ExitStatus.HARNESS_ERROR,
        ) from error
