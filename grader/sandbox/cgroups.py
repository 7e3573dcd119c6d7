# SPDX-License-Identifier: MIT
"""One control group per slot, where permitted: it limits the memory and the number of all of a
submission's processes together. Elsewhere limits apply to each process separately."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.request import Limits

ROOT = Path("/sys/fs/cgroup")
GONE_SECONDS = 2.0
YOUNG_SECONDS = 60.0  # may belong to a container whose processes are not visible here


@dataclass(frozen=True)
class Group:
    folders: tuple[Path, ...]

    def remove(self) -> None:
        """Its processes have ended, or are being killed; the kernel may need a moment."""
        deadline = time.monotonic() + GONE_SECONDS
        for folder in self.folders:
            with suppress(OSError):
                (folder / "cgroup.kill").write_text("1")
            while folder.is_dir() and time.monotonic() < deadline:
                with suppress(OSError):
                    folder.rmdir()
                    break
                time.sleep(0.01)


def left_by(pid: int | str) -> list[Path]:
    """The groups of the grader with this PID; "*": of all graders."""
    return [*ROOT.glob(f"peerlab-{pid}-*"), *ROOT.glob(f"*/peerlab-{pid}-*")]


def sweep() -> None:
    """Removes the groups of graders that were killed, even if their PIDs were reused. A group with
    processes stays."""
    for folder in left_by("*"):
        pid, started = folder.name.split("-")[1:3]
        owned = started and _started(pid) == started
        with suppress(OSError):
            if not owned and time.time() - folder.stat().st_mtime > YOUNG_SECONDS:
                folder.rmdir()


def _started(pid: int | str) -> str:
    """The start time of a process, in ticks since boot, which identifies it even if its PID is
    reused. "" if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def make(slot: int | None, limits: Limits) -> Group | None:
    """None if this machine permits no control groups."""
    pid = os.getpid()
    name = f"peerlab-{pid}-{_started(pid)}-{slot}-{time.monotonic_ns():x}"
    try:
        if (ROOT / "cgroup.controllers").is_file():
            return _unified(ROOT / name, limits)
        return _separate(name, limits)
    except OSError:
        return None


def _unified(folder: Path, limits: Limits) -> Group:
    folder.mkdir()
    try:
        (folder / "pids.max").write_text(str(limits.processes))
        (folder / "memory.max").write_text(str(limits.memory_bytes))
    except OSError:
        folder.rmdir()
        raise
    with suppress(OSError):
        (folder / "memory.swap.max").write_text("0")
    return Group((folder,))


def _separate(name: str, limits: Limits) -> Group:
    """Version 1: one hierarchy per controller."""
    made: list[Path] = []
    wanted = (
        (ROOT / "pids" / name, "pids.max", limits.processes),
        (ROOT / "memory" / name, "memory.limit_in_bytes", limits.memory_bytes),
    )
    try:
        for folder, file, most in wanted:
            folder.mkdir()
            made.append(folder)
            (folder / file).write_text(str(most))
    except OSError:
        for folder in made:
            folder.rmdir()
        raise
    return Group(tuple(made))
