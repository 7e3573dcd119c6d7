# SPDX-License-Identifier: MIT
"""What is asked of the sandbox, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from grader.base.exits import ExitStatus, LabError

MIB = 1 << 20


class SandboxError(LabError):
    """The sandbox could not be set up: ours to mend, and no student's failure."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitStatus.HARNESS_ERROR)


class Tier(Enum):
    """How well a machine can hold a submission, best first."""

    BUBBLEWRAP = "bubblewrap"  # namespaces of its own for each run
    UID = "uid"  # root without namespaces: a uid a slot, Landlock, seccomp
    LANDLOCK = "landlock"  # a plain user without namespaces: Landlock, seccomp
    BARE = "bare"  # limits and seccomp only: nothing hides files; only when told

    def __str__(self) -> str:
        return self.value

    def slots(self, wanted: int) -> int:
        """How many submissions may run at a time: where all are the same user, one takes the
        processes that another may have."""
        return wanted if self is not Tier.LANDLOCK else 1


@dataclass(frozen=True)
class Limits:
    wall_seconds: float = 120.0
    cpu_seconds: int = 60  # of each process
    memory_bytes: int = 2048 * MIB
    output_bytes: int = 1 * MIB  # of standard output and error together
    processes: int = 128  # and threads
    descriptors: int = 256
    file_bytes: int = 2 * MIB  # of each: those on their way through a socket are counted by nobody
    temporary_bytes: int = 256 * MIB  # of /tmp and /dev/shm

    @property
    def node_bytes(self) -> int:
        """What the virtual node may hold for the submission. Both are in a control group that has
        `memory_bytes` together: the node refuses with a sentence before the group ends it."""
        return self.memory_bytes // 4 * 3


@dataclass(frozen=True)
class Request:
    """A program to run. Of the machine it sees /usr and the paths named here, each where it lies
    outside; `argv[0]` is absolute. Standard input is empty. `environment` is all there is.

    `slot` keeps submissions apart that run at the same time: one that the caller has claimed
    for all runs of a submission (slots.py), or one for each run. `node` lets the program reach
    the virtual node of VGPU_NODE_ID. `compiles`: it opens files that a submission names, and
    those that it may not read do not exist for it (harness/jail/absent.c)."""

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
    """How a program ended. Its status and output are the submission's to choose: a verdict is never
    read out of them. A status above 128 may be a signal or an exit() that looks like one."""

    status: int
    output: bytes  # the first `output_bytes`
    tier: Tier
    timed_out: bool = False
    flooded: bool = False  # it printed more than it may and was ended
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.status == 0 and not self.timed_out and not self.flooded

    @property
    def signal(self) -> int:
        """The signal that ended it, as far as one can tell; 0 without one."""
        return self.status - 128 if 128 < self.status <= 192 else 0

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace")
