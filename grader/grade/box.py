# SPDX-License-Identifier: MIT
"""What stands in for grader.sandbox until it is there: no sandbox at all, behind the same calls."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path


class Tier(Enum):
    BARE = "bare"


@dataclass(frozen=True)
class Limits:
    wall_seconds: float = 120.0
    output_bytes: int = 1 << 20


@dataclass(frozen=True)
class Request:
    argv: tuple[str, ...]
    read_only: tuple[Path, ...] = ()
    read_write: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path("/")
    limits: Limits = Limits()
    slot: int = 0
    node: bool = False


@dataclass(frozen=True)
class Outcome:
    status: int
    output: bytes
    tier: Tier = Tier.BARE
    timed_out: bool = False
    flooded: bool = False

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace")


@dataclass(frozen=True)
class Launch:
    options: tuple[str, ...]
    environment: dict[str, str]
    tier: Tier


def tier() -> Tier | None:
    return None


@contextmanager
def prepare(request: Request, tier: Tier) -> Iterator[Launch]:
    yield Launch((), {"PATH": os.environ["PATH"], **request.environment}, tier)


def run(request: Request, tier: Tier) -> Outcome:
    process = subprocess.Popen(
        request.argv,
        cwd=request.folder,
        env=dict(request.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    timed_out = False
    try:
        output, _ = process.communicate(timeout=request.limits.wall_seconds)
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    code = process.returncode
    most = request.limits.output_bytes
    status = code if code >= 0 else 128 - code
    return Outcome(status, output[:most], tier, timed_out, len(output) > most)
