# SPDX-License-Identifier: MIT
"""results.sqlite: what grading must not lose, and what it publishes, in one SQLite file.

    runs      how each file was built and how its cases ended, by cache key   journal.py
    begun     how often the grading of one was begun, and did not end
    attempts  which files a student handed in for a lab, one after the other
    timed     how long the timed task of each took                              leaderboard.py
    editions  results as they were published, a row for each student and lab  published.py
    marks     the published ones, for whoever asks with SQL

One process writes, and the file may lie on a network's disk: it has SQLite's rollback journal,
which needs no memory that several machines share, as a write-ahead log does. A process that is
killed leaves no half of a transaction: whoever opens the file next undoes what was not committed.
"""

import contextlib
import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError

NAME = "results.sqlite"
FORMAT = 1
BUSY_SECONDS = 60.0  # for who reads while grading writes, and the other way round

_TABLES = """
CREATE TABLE IF NOT EXISTS runs (
    cache TEXT PRIMARY KEY, submission TEXT NOT NULL, digest TEXT NOT NULL, at REAL NOT NULL,
    run TEXT NOT NULL, crc32 INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS runs_of ON runs (submission, digest);
CREATE TABLE IF NOT EXISTS begun (cache TEXT PRIMARY KEY, times INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS attempts (
    submission TEXT NOT NULL, digest TEXT NOT NULL, cache TEXT NOT NULL, submitted REAL,
    seen REAL NOT NULL, PRIMARY KEY (submission, digest));
CREATE TABLE IF NOT EXISTS timed (entry TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS editions (
    edition INTEGER PRIMARY KEY, head TEXT NOT NULL, published INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS rows (
    edition INTEGER NOT NULL, place INTEGER NOT NULL, student TEXT NOT NULL, lab TEXT NOT NULL,
    status TEXT NOT NULL, mark REAL, points INTEGER, possible INTEGER NOT NULL, row TEXT NOT NULL,
    PRIMARY KEY (edition, place));
CREATE VIEW IF NOT EXISTS marks AS
    SELECT student, lab, status, mark, points, possible, row FROM rows JOIN editions USING (edition)
    WHERE published ORDER BY place;
"""


class Database:
    """A connection, for all threads of a process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._depth = 0
        uri = f"{path.absolute().as_uri()}?mode=rw"
        self._connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    def close(self) -> None:
        self._connection.close()

    def all(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock, self._told("read"):
            return self._connection.execute(question, values).fetchall()

    def each(self, question: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """A row at a time; nothing may be written meanwhile."""
        with self._lock, self._told("read"):
            yield from self._connection.execute(question, values)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """What is written until the context ends is kept as a whole, or not at all."""
        with self._lock, self._told("written"):
            if self._depth == 0:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
                if self._depth == 1:
                    self._connection.execute("COMMIT")
            except BaseException:
                if self._depth == 1 and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def write(self, order: str, *values: object) -> None:
        with self.together():
            self._connection.execute(order, values)

    def write_all(self, order: str, values: Iterable[tuple[object, ...]]) -> None:
        with self.together():
            self._connection.executemany(order, values)

    def make(self) -> None:
        """The tables, where they are not."""
        with self._told("read"):
            (found,) = self._connection.execute("PRAGMA user_version").fetchone()
            if found not in (0, FORMAT):
                raise LabError(
                    f"{self.path} has format {found}, and this is {FORMAT}: it was written by "
                    "another version of ./lab. Take that one, or another --out.",
                    ExitStatus.USAGE,
                )
        if found == 0:
            with self._told("written"):
                self._connection.executescript(
                    f"BEGIN IMMEDIATE; {_TABLES}; PRAGMA user_version = {FORMAT}; COMMIT;"
                )

    @contextlib.contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            advice = "make room and run the same command again"
            if not isinstance(error, sqlite3.OperationalError):
                advice = "put a copy of it in its place, or move it away: then all is graded anew"
            raise LabError(
                f"{self.path} cannot be {what}: {error}. What was committed is safe: {advice}.",
                ExitStatus.HARNESS_ERROR,
            ) from error


def text(word: str) -> str:
    """As UTF-8 can say it: a name may hold bytes that are no text."""
    return word.encode("utf-8", "backslashreplace").decode("utf-8")


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Database]:
    """The results of an output folder, for this process to write and no other."""
    folder.mkdir(parents=True, exist_ok=True)
    # Another file than SQLite's: to close one of two descriptors of a file drops its POSIX locks.
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise LabError(
                f"Another ./lab grade is writing to {folder}. Wait for it, or take another --out.",
                ExitStatus.USAGE,
            ) from error
        path = folder / NAME
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        database = Database(path)
        try:
            database.make()
            yield database
        finally:
            database.close()
    finally:
        os.close(lock)
