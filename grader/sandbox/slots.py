# SPDX-License-Identifier: MIT
"""Slots: numbers that keep apart the submissions that are at work on this machine, whichever grader
of this user started them. Where the grader is root, a slot's submissions run as a user of its own,
and whatever is left of that user is ended afterwards: no two may ever share one.

A slot is held by a lock on a file, so it is free again when its grader ends, however it ends.

A student reads what public tests printed, and nothing of hidden ones. So the two are never run at
the same time, whoever is graded: a submission in a public test has no other one beside it that is
being asked a hidden test, and could tell (`asking`). Graders of different users do not wait for
each other: a file by which they could is one by which any user could stop them all. They see each
other, though (`other_users`), and `./lab grade` says so.
"""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.base.locks import is_held
from grader.sandbox.request import SandboxError

MOST = 256
PLACES = (Path("/run"), Path("/tmp"))  # the first is root's
LOCKS = Path("/proc/locks")
PATIENCE_SECONDS = 1800.0  # for others to be done with a submission
LOOK_SECONDS = 0.05


@contextmanager
def claim(most: int = MOST) -> Iterator[int]:
    """One of the slots 0 .. most - 1, for as long as this lasts; waits until one is free.
    SandboxError: none was, for half an hour."""
    folder = _folder()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (taken := _take(folder, most)) is None:
        if time.monotonic() > deadline:
            raise SandboxError(
                f"other graders have had all {most} slots of this machine for "
                f"{PATIENCE_SECONDS:g} s ({folder}/slot-*, fuser says whose they are): wait for "
                "them, or end them"
            )
        time.sleep(LOOK_SECONDS)
    slot, lock = taken
    sign = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(sign, fcntl.LOCK_SH)
    try:
        yield slot
    finally:
        os.close(sign)
        os.close(lock)


def other_users() -> set[int]:
    """Other users whose graders are at work on this machine: each has a lock on its own folder,
    which others cannot open, but can see. Graders in other containers do not show."""
    held = {line.split()[5] for line in _lines(LOCKS) if line.split()[1] == "FLOCK"}
    found = set()
    for folder in {one for place in PLACES for one in place.glob("peerlab-slots-*")}:
        try:
            info = folder.lstat()
        except FileNotFoundError:
            continue
        major, minor = os.major(info.st_dev), os.minor(info.st_dev)
        is_theirs = folder.name == f"peerlab-slots-{info.st_uid}" and info.st_uid != os.geteuid()
        if is_theirs and f"{major:02x}:{minor:02x}:{info.st_ino}" in held:
            found.add(info.st_uid)
    return found


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


@contextmanager
def asking(slot: int, kind: str) -> Iterator[None]:
    """While this lasts, this user's submissions on this machine are asked tests of this kind only:
    "public" or "hidden". Waits until the others have been asked theirs; who waits comes before
    whoever comes later."""
    folder = _folder()
    other = {"public": "hidden", "hidden": "public"}[kind]
    gate = os.open(folder / "gate", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    mine = os.open(folder / f"{kind}-{slot}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        while any(is_held(path) for path in folder.glob(f"{other}-*")):
            time.sleep(LOOK_SECONDS)
        fcntl.flock(mine, fcntl.LOCK_EX)
        os.close(gate)
        gate = -1
        yield
    finally:
        for lock in (gate, mine):
            if lock >= 0:
                os.close(lock)


def _take(folder: Path, most: int) -> tuple[int, int] | None:
    for slot in range(most):
        lock = os.open(folder / f"slot-{slot}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return slot, lock
        except BlockingIOError:
            os.close(lock)
    return None


def _top() -> Path:
    """The same for all graders of a user: not TMPDIR, of which each Slurm job may have its own."""
    places = PLACES if os.geteuid() == 0 else PLACES[1:]
    return next((p for p in places if os.access(p, os.W_OK)), Path(tempfile.gettempdir()))


def _folder() -> Path:
    """Ours alone: whoever could open the files could hold all slots."""
    me = os.geteuid()
    folder = _top() / f"peerlab-slots-{me}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        info = folder.lstat()
    except OSError as error:
        raise SandboxError(f"{folder} cannot be made, and graders agree there: {error}") from error
    if info.st_uid != me or info.st_mode & 0o077 or folder.is_symlink():
        raise SandboxError(
            f"{folder} is user {info.st_uid}'s with mode {info.st_mode & 0o777:o}, expected a "
            f"folder of user {me} with mode 700: graders agree there who has which slot. Remove it."
        )
    return folder
