# SPDX-License-Identifier: MIT
"""The runs of the course's own solutions, with which every ./lab grade begins, once for all tests
of a build: they take longer than most classes here. A run's key has all that it depends on
(grader/grade/batch.py), so that one of another course, seed or sandbox is never taken."""

import contextlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from grader.grade.database import NAME, Database
from grader.grade.proof import NAME as SOLUTION
from grader.grade.work import SEED_BITS

_COLUMNS = "cache, submission, digest, at, run, crc32"
_OTHERS = "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?)"


class Proved:
    """`folder` holds the runs, and the seed of the classes that name none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lend(self, out: Path) -> None:
        """To a class that was not graded before: its output folder, with these runs in it."""
        out.mkdir(parents=True)
        (out / "class.json").write_text(json.dumps({"seed": self._seed()}), encoding="utf-8")
        _copy(self.folder, out)

    def keep(self, out: Path) -> None:
        _copy(out, self.folder)

    def _seed(self) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "seed"
        if not path.exists():
            fresh = path.with_suffix(f".{os.getpid()}")
            fresh.write_text(str(secrets.randbits(SEED_BITS)), encoding="utf-8")
            fresh.replace(path)
        return int(path.read_text(encoding="utf-8"))


def _copy(here: Path, there: Path) -> None:
    """The solutions' runs, and nobody else's."""
    with _opened(here) as base:
        like = f"%/{SOLUTION}"
        found = base.all(f"SELECT {_COLUMNS} FROM runs WHERE submission LIKE ?", like)
    with _opened(there) as base:
        base.write_all(_OTHERS, found)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[Database]:
    os.close(os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    base = Database(folder / NAME)
    try:
        base.make()
        yield base
    finally:
        base.close()
