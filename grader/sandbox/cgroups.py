# SPDX-License-Identifier: MIT
"""A control group a slot, where we may make them: all of a submission's processes together have one
limit of memory and one of their number. Elsewhere limits count for each process alone."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.request import Limits

ROOT = Path("/sys/fs/cgroup")
GONE_SECONDS = 2.0
YOUNG_SECONDS = 60.0  # perhaps of a container whose processes we do not see


@dataclass(frozen=True)
class Group:
    folders: tuple[Path, ...]

    def remove(self) -> None:
        """Its processes have ended, or end now; the kernel may need a moment to notice."""
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
    """A grader's groups, by its PID; "*": everybody's."""
    return [*ROOT.glob(f"peerlab-{pid}-*"), *ROOT.glob(f"*/peerlab-{pid}-*")]


def sweep() -> None:
    """Removes the groups of graders that were killed, whoever has their PIDs now. One that has
    processes stays."""
    for folder in left_by("*"):
        pid, started = folder.name.split("-")[1:3]
        owned = started and _started(pid) == started
        with suppress(OSError):
            if not owned and time.time() - folder.stat().st_mtime > YOUNG_SECONDS:
                folder.rmdir()


def _started(pid: int | str) -> str:
    """When a process was started, in ticks since the machine was: with it a PID is no other's. ""
    where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def make(slot: int | None, limits: Limits) -> Group | None:
    """None where this machine gives us no control groups."""
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
    """Version 1: a hierarchy a controller."""
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
