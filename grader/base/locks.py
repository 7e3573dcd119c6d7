# SPDX-License-Identifier: MIT
"""Locks on files (flock): a lock is released when its process ends, for whatever reason."""

import fcntl
import os
from pathlib import Path


def is_held(path: Path) -> bool:
    """Whether a process holds the lock on a file. Two concurrent callers do not mistake each other
    for holders. FileNotFoundError: there is no such file; OSError: it is a link."""
    lock = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
