# SPDX-License-Identifier: MIT
"""Reads a file from a folder that a submission could write to.

Only an ordinary file beneath the folder is read, and at most a limited number of bytes: no link, no
path that leads out, no FIFO that blocks for ever, no sparse terabyte.
"""

import ctypes
import errno
import os
import stat
from pathlib import Path, PurePosixPath

OPENAT2 = 437
NO_XDEV, NO_MAGICLINKS, NO_SYMLINKS, BENEATH = 0x01, 0x02, 0x04, 0x08
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class Refused(Exception):
    """The file exists, but is not acceptable."""


class _How(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("flags", "mode", "resolve")]


def read_back(folder: Path, name: str, most: int) -> bytes:
    """The file's bytes. FileNotFoundError if there is none; Refused if it is not an ordinary file
    beneath the folder or has more than `most` bytes."""
    top = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fd = _open_beneath(top, name)
    finally:
        os.close(top)
    try:
        return _read_ordinary(fd, name, most)
    finally:
        os.close(fd)


def _read_ordinary(fd: int, name: str, most: int) -> bytes:
    info = os.fstat(fd)
    if not stat.S_ISREG(info.st_mode):
        raise Refused(f"{name} is not an ordinary file")
    if info.st_nlink != 1:
        raise Refused(f"{name} has other names: a hard link")
    pieces, left = [], most + 1
    while left > 0 and (piece := os.read(fd, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    if left <= 0 or info.st_size > most:
        raise Refused(f"{name} has {info.st_size} bytes, more than the {most} that are read")
    return b"".join(pieces)


def _open_beneath(top: int, name: str) -> int:
    how = _How(FLAGS, 0, NO_XDEV | NO_MAGICLINKS | NO_SYMLINKS | BENEATH)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(OPENAT2, top, os.fsencode(name), ctypes.byref(how), ctypes.sizeof(how))
    number = ctypes.get_errno()
    if fd >= 0:
        return int(fd)
    if number == errno.ENOSYS:
        return _open_step_by_step(top, name)
    raise _refusal(name, number)


def _open_step_by_step(top: int, name: str) -> int:
    """For kernels before 5.6: opens every component separately, none of them a link."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts:
        raise Refused(f"{name} leads out of the folder")
    here = os.dup(top)
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = below
        return os.open(parts[-1], FLAGS, dir_fd=here)
    except OSError as error:
        raise _refusal(name, error.errno or 0) from None
    finally:
        os.close(here)


def _refusal(name: str, number: int) -> Exception:
    if number == errno.ENOENT:
        return FileNotFoundError(number, os.strerror(number), name)
    meaning = {errno.ELOOP: "is a link", errno.EXDEV: "leads out of the folder"}
    return Refused(f"{name} {meaning.get(number, os.strerror(number))}")
