# SPDX-License-Identifier: MIT
"""The runs of the course's own solutions, with which every ./lab grade begins, once for all tests
of a build: they take longer than most classes here. A run's key has what it depends on
(grader/grade/batch.py), but for the grader itself and the jail: these are in the folder's name. So
a run of another course, seed, sandbox or grader is never taken."""

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import grader
from grader.grade.database import NAME, Database
from grader.grade.proof import NAME as SOLUTION
from grader.grade.work import SEED_BITS

_COLUMNS = "cache, submission, digest, at, run, crc32"
_NEW_ONES = "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?)"


class Proved:
    """What is kept in a build folder: the runs, and the seed of the classes that name none."""

    def __init__(self, build: Path) -> None:
        self.folder = build / "grading" / _graders(build)

    def lend(self, out: Path) -> None:
        """To a class that was not graded before: its output folder, with these runs in it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        out.mkdir(parents=True)
        (out / "class.json").write_text(json.dumps({"seed": self._seed()}), encoding="utf-8")
        _copy(self.folder, out)

    def keep(self, out: Path) -> None:
        _copy(out, self.folder)

    def _seed(self) -> int:
        path = self.folder / "seed"
        if not path.exists():
            fresh = path.with_suffix(f".{os.getpid()}")
            fresh.write_text(str(secrets.randbits(SEED_BITS)), encoding="utf-8")
            fresh.replace(path)
        return int(path.read_text(encoding="utf-8"))


def _graders(build: Path) -> str:
    """A name for what grades here."""
    sources = sorted(Path(next(iter(grader.__path__))).rglob("*.py"))
    jail = [build / "bin" / "lab-jail", *sorted((build / "lib" / "absent").iterdir())]
    whole = hashlib.sha256()
    for path in (*sources, *jail):
        whole.update(f"{path}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


def _copy(here: Path, there: Path) -> None:
    """The solutions' runs, and nobody else's."""
    with _opened(here) as base:
        like = f"%/{SOLUTION}"
        found = base.all(f"SELECT {_COLUMNS} FROM runs WHERE submission LIKE ?", like)
    with _opened(there) as base:
        base.write_all(_NEW_ONES, found)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[Database]:
    os.close(os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    base = Database(folder / NAME)
    try:
        base.make()
        yield base
    finally:
        base.close()
