# SPDX-License-Identifier: MIT
"""Reads what strangers packed in a process of its own, with limits of memory, time and output.

    files = contained(lambda: read(package))     Rejected: it took more than it may, or crashed

Decompressors and tar headers have surprised every reader so far. What goes wrong there ends that
process and is that package's problem; neither the grader nor the other packages notice.
"""

import ctypes
import gc
import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from grader.grade.model import Rejected

MIB = 1 << 20
PR_SET_PDEATHSIG = 1
PIECE = 1 << 16
T = TypeVar("T")
_LIBC = ctypes.CDLL(None)


@dataclass(frozen=True)
class Bounds:
    """Of one reading; memory is what it takes beyond what the grader has itself."""

    memory_bytes: int = 512 * MIB
    cpu_seconds: int = 10
    wall_seconds: float = 120.0
    output_bytes: int = 96 * MIB

    def __str__(self) -> str:
        return f"{self.memory_bytes // MIB} MiB of memory and {self.cpu_seconds} s"


def contained(work: Callable[[], T], bounds: Bounds | None = None) -> T:
    """What `work` returns, which JSON can say. Rejected: by `work`, or by a limit."""
    bounds = bounds or Bounds()
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _child(work, writer, bounds, parent)
    os.close(writer)
    try:
        said, late = _read(reader, bounds)
    finally:
        os.close(reader)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    found: T = _answer(said, late, bounds)["found"]
    return found


def _read(reader: int, bounds: Bounds) -> tuple[bytes, bool]:
    """All that it says, and whether it said too much or for too long."""
    said = bytearray()
    ends = time.monotonic() + bounds.wall_seconds
    while len(said) <= bounds.output_bytes:
        if not select.select([reader], [], [], max(0.0, ends - time.monotonic()))[0]:
            return b"", True
        piece = os.read(reader, PIECE)
        if not piece:
            return bytes(said), False
        said += piece
    return b"", True


def _answer(said: bytes, late: bool, bounds: Bounds) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads(said)
    except ValueError:
        what = f"reading it took more than {bounds}"
        if late:
            what = f"reading it took {bounds.wall_seconds:g} s or gave {bounds.output_bytes} bytes"
        raise Rejected(f"{what}, so nothing of it is taken") from None
    if "rejected" in answer:
        raise Rejected(answer["rejected"])
    if "error" in answer:
        raise OSError(*answer["error"])
    return answer


# ---- in the process of its own ----


def _child(work: Callable[[], Any], writer: int, bounds: Bounds, parent: int) -> None:
    """Never returns, and runs nothing of the grader's on its way out."""
    gc.disable()  # a collected object closes its descriptor, whose number is another file's by then
    try:
        text = json.dumps(_result(work, writer, bounds, parent)).encode("ascii")
        while text:
            text = text[os.write(writer, text) :]
    finally:
        os._exit(0)


def _result(work: Callable[[], Any], writer: int, bounds: Bounds, parent: int) -> dict[str, Any]:
    try:
        _limit(writer, bounds, parent)
        return {"found": work()}
    except Rejected as error:
        return {"rejected": str(error)}
    except OSError as error:
        return {"error": [error.errno or 0, error.strerror or str(error)]}
    except (MemoryError, RecursionError):
        return {"rejected": f"reading it took more than {bounds}, so nothing of it is taken"}


def _limit(writer: int, bounds: Bounds, parent: int) -> None:
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    os.closerange(3, writer)
    os.closerange(writer + 1, 1 << 12)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    now = pages * resource.getpagesize()
    _lower(resource.RLIMIT_AS, now + bounds.memory_bytes)
    _lower(resource.RLIMIT_CPU, bounds.cpu_seconds)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_CORE, 0)


def _lower(which: int, most: int) -> None:
    """Never above what we have already."""
    hard = resource.getrlimit(which)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))
