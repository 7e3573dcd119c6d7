# SPDX-License-Identifier: MIT
"""Slots: numbers that isolate the submissions running on this machine, for all graders of this
user. If the grader is root, a slot's submissions run under a uid of its own, and all processes of
that uid are killed afterwards: no two submissions may ever share one.

A slot is held by a lock on a file, so it is released when its grader ends, for whatever reason.

A student can read what public tests printed, but nothing of hidden ones. So the two never run at
the same time, for any student: otherwise a submission in a hidden test could pass information on to
one in a public test (`asking`). Graders of different users do not wait for each other: a file for
that purpose would let any user block all graders. They detect each other, though (`other_users`),
and `./lab grade` reports it.
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
PATIENCE_SECONDS = 1800.0  # wait for other submissions
LOOK_SECONDS = 0.05


@contextmanager
def claim(most: int = MOST) -> Iterator[int]:
    """One of the slots 0 .. most - 1, held until the context ends; waits until one is free.
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
    """Other users whose graders run on this machine: each has a lock on its own folder, which is
    visible to others, but cannot be opened. Graders in other containers are not visible."""
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
    """Until the context ends, this user's submissions on this machine run tests of this kind only:
    "public" or "hidden". Waits until tests of the other kind have ended; waiting graders are served
    in order of arrival."""
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
    """The same for all graders of a user: not TMPDIR, which may differ between Slurm jobs."""
    places = PLACES if os.geteuid() == 0 else PLACES[1:]
    return next((p for p in places if os.access(p, os.W_OK)), Path(tempfile.gettempdir()))


def _folder() -> Path:
    """Private: a user who could open the files could hold all slots."""
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
