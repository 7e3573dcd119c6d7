# SPDX-License-Identifier: MIT
"""The journal: which submission was begun, how it ended, and which files were handed in.

It is what grading must not lose: all else in the output folder is made from it again. It stands in
results.sqlite (database.py); what is told is committed, and on the disk, before the call returns.
"""

import contextlib
import json
import os
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.grade import database
from grader.grade.database import Database, text
from grader.grade.model import Run


@dataclass(frozen=True)
class Attempt:
    """A file that a student handed in for a lab, and the cache key of its latest run."""

    digest: str
    cache: str
    submitted: float | None
    seen: float


class Runs(Mapping[str, Run]):
    """The finished ones by cache key, each read when it is asked for; `at` is when they were."""

    def __init__(self, base: Database, at: dict[str, float]) -> None:
        self.base, self.at = base, at

    def __getitem__(self, cache: str) -> Run:
        found = self.base.all("SELECT run FROM runs WHERE cache = ?", cache)
        if not found:
            raise KeyError(cache)
        return Run.from_json(json.loads(found[0][0]))

    def __contains__(self, cache: object) -> bool:
        return cache in self.at

    def __iter__(self) -> Iterator[str]:
        return iter(self.at)

    def __len__(self) -> int:
        return len(self.at)


class Journal:
    """`begun` counts beginnings without an end, by cache key; `damaged` results are no longer what
    was written, and are graded again."""

    def __init__(self, base: Database) -> None:
        self.base = base
        self.at: dict[str, float] = {}
        self.damaged = 0
        self.runs = Runs(base, self.at)
        self._load()
        self.begun: dict[str, int] = dict(base.all("SELECT cache, times FROM begun"))
        self.timed = [json.loads(entry) for (entry,) in base.all("SELECT entry FROM timed")]

    def note_times(self, entry: dict[str, Any]) -> None:
        """What a submission's timed task took (leaderboard.py). Each is kept for good."""
        self.timed.append(entry)
        self.base.write("INSERT INTO timed VALUES (?)", text(json.dumps(entry)))

    def _load(self) -> None:
        damaged = []
        question = "SELECT cache, at, CAST(run AS BLOB), crc32 FROM runs"
        for cache, at, run, crc32 in self.base.each(question):
            if zlib.crc32(run) == crc32:
                self.at[cache] = at
            else:
                damaged.append((cache,))
        self.damaged = len(damaged)
        if damaged:
            self.base.write_all("DELETE FROM runs WHERE cache = ?", damaged)

    def begin(self, cache: str) -> None:
        # SQLite before 3.35 must be told which conflict it is.
        order = "INSERT INTO begun VALUES (?, 1) ON CONFLICT (cache) DO UPDATE"
        self.base.write(f"{order} SET times = times + 1", cache)

    def end(self, submission: str, cache: str, digest: str, run: Run, at: float) -> None:
        """A run that broke on our side is no result: it only ends what was begun."""
        with self.base.together():
            self.base.write("DELETE FROM begun WHERE cache = ?", cache)
            if not run.broken:
                whole = text(json.dumps(run.to_json(), ensure_ascii=False))
                self.base.write(
                    "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
                    *(cache, text(submission), digest, round(at, 3)),
                    *(whole, zlib.crc32(whole.encode())),
                )
        self.begun[cache] = 0
        if not run.broken:
            self.at[cache] = round(at, 3)

    def before(self, submission: str, digest: str) -> Run | None:
        """An earlier result of the very same file, by whatever version of the course."""
        question = "SELECT run FROM runs WHERE submission = ? AND digest = ?"
        found = self.base.all(f"{question} ORDER BY rowid DESC LIMIT 1", text(submission), digest)
        return Run.from_json(json.loads(found[0][0])) if found else None

    def seen(self, submission: str, digest: str, cache: str, submitted: float | None) -> None:
        """Notes what is handed in now, if that is another file than before or graded otherwise."""
        self.base.write(
            "INSERT INTO attempts VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (submission, digest) DO UPDATE SET cache = excluded.cache "
            "WHERE cache <> excluded.cache",
            *(text(submission), digest, cache, submitted, round(time.time(), 3)),
        )

    def attempts(self, submission: str) -> list[Attempt]:
        """In the order in which they were seen."""
        question = "SELECT digest, cache, submitted, seen FROM attempts WHERE submission = ?"
        found = self.base.all(f"{question} ORDER BY rowid", text(submission))
        return [Attempt(*one) for one in found]


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Journal]:
    """The journal of an output folder, for this process alone."""
    with database.opened(folder) as base:
        yield Journal(base)


def write_whole(path: Path, text: str) -> None:
    """Replaces a file at once: whoever reads it finds the old one or the new one."""
    write_pieces(path, (text,))


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """The same of a text that is longer than memory should be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, fresh = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(fd)
        Path(fresh).chmod(0o644)
        Path(fresh).replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(fresh).unlink()
        raise LabError(
            f"{path} cannot be written: {error.strerror}. The results are whole: make room and run "
            "the same command again.",
            ExitStatus.HARNESS_ERROR,
        ) from error
