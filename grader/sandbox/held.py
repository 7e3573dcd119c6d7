# SPDX-License-Identifier: MIT
"""Folders with the lifetime of their process: a lock on a file in each shows that its process
lives, and `sweep` removes those of killed processes. PIDs would not suffice: another container that
shares /tmp has its own.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.base.locks import is_held

LOCK = "lock"
YOUNG_SECONDS = 60.0  # its process may be about to lock it


@contextmanager
def held(prefix: str, mode: int) -> Iterator[Path]:
    """A folder of this process, removed on exit from the context."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    folder.chmod(mode)
    lock = os.open(folder / "new", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "new").rename(folder / LOCK)  # never visible without its lock
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep(prefix: str) -> None:
    """Removes the folders whose processes have ended without doing so."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            info = folder.lstat()
            if info.st_uid == os.geteuid() and not folder.is_symlink() and _is_left(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    try:
        return not is_held(folder / LOCK)
    except FileNotFoundError:
        return time.time() - folder.lstat().st_mtime > YOUNG_SECONDS
