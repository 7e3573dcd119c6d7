# SPDX-License-Identifier: MIT
"""Requests to the sandbox, and results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from grader.base.exits import ExitStatus, LabError

MIB = 1 << 20


class SandboxError(LabError):
    """The sandbox could not be set up: never a student's failure."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitStatus.HARNESS_ERROR)


class Tier(Enum):
    """Degrees of isolation, best first."""

    BUBBLEWRAP = "bubblewrap"  # namespaces of its own for each run
    UID = "uid"  # root without namespaces: one uid per slot, Landlock, seccomp
    LANDLOCK = "landlock"  # a plain user without namespaces: Landlock, seccomp
    BARE = "bare"  # limits and seccomp only: files are not hidden; only on request

    def __str__(self) -> str:
        return self.value

    def slots(self, wanted: int) -> int:
        """How many submissions may run at a time: if all run under the same user, they share one
        limit on processes."""
        return wanted if self is not Tier.LANDLOCK else 1


@dataclass(frozen=True)
class Limits:
    wall_seconds: float = 120.0
    cpu_seconds: int = 60  # of each process
    memory_bytes: int = 2048 * MIB
    output_bytes: int = 1 * MIB  # of standard output and error together
    processes: int = 128  # and threads
    descriptors: int = 256
    file_bytes: int = 2 * MIB  # of each, since files in transit through a socket are not counted
    temporary_bytes: int = 256 * MIB  # of /tmp and /dev/shm

    @property
    def node_bytes(self) -> int:
        """The virtual node's limit for the submission. Both are in one control group of
        `memory_bytes`: the node refuses with a message before the group's limit kills it."""
        return self.memory_bytes // 4 * 3


@dataclass(frozen=True)
class Request:
    """A program to run. Of the machine it can read /usr and the paths given here, at the same
    places as outside; `argv[0]` is absolute. Standard input is empty. `environment` is complete.

        `slot` isolates submissions that run at the same time: one that the caller has claimed
        for all runs of a submission (slots.py), or one for each run. `node` lets the program reach
        the virtual node of VGPU_NODE_ID. `compiles`: it opens files that a submission names, and
        files that it may not read do not exist for it (harness/jail/absent.c)."""

    argv: tuple[str, ...]
    read_only: tuple[Path, ...] = ()
    read_write: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path("/")
    limits: Limits = Limits()
    slot: int | None = None
    node: bool = False
    compiles: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a program ended. The submission controls its status and output: a verdict is never
    derived from them. A status above 128 may be a signal or an exit() that looks like one."""

    status: int
    output: bytes  # the first `output_bytes`
    tier: Tier
    timed_out: bool = False
    flooded: bool = False  # it exceeded its output limit and was ended
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.status == 0 and not self.timed_out and not self.flooded

    @property
    def signal(self) -> int:
        """The signal that ended it, as far as can be known; 0 without one."""
        return self.status - 128 if 128 < self.status <= 192 else 0

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace")
