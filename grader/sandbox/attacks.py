# SPDX-License-Identifier: MIT
"""Tests what a tier stops, by attacking it with harness/jail/probe.c.

Each attack is tried in the sandbox, and without any. One that fails even without a sandbox proves
nothing, and the table shows that.
"""

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.programs import programs
from grader.sandbox.request import MIB, Limits, Request, Tier
from grader.sandbox.supervise import run

LIMITS = Limits(wall_seconds=30, memory_bytes=192 * MIB, processes=128)
MORE_MIB, MORE_PROCESSES = 288, 200  # more than LIMITS
THROUGH, HELD = 0, 1
EVERYBODYS = Path("/usr/bin/env")  # a file that all submissions can read
SECONDS = 30.0


@dataclass(frozen=True)
class Attack:
    title: str  # what it does, for the table
    word: str  # lab-probe's name for it
    argument: str
    limit: bool = False  # tests a resource limit, not isolation


@dataclass(frozen=True)
class Finding:
    """The result of one attack; `open_outside`: it succeeds without a sandbox."""

    attack: Attack
    held: bool
    open_outside: bool


@contextmanager
def targets() -> Iterator[list[Attack]]:
    """Creates targets of attacks: a file, a process, services; removed afterwards."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lab-doctor-")))
        folder.chmod(0o777)
        secret = folder / "secret"
        secret.write_text("secret\n", encoding="utf-8")
        victim = stack.enter_context(_victim())
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
        service = stack.enter_context(_service(folder / "service"))
        yield [
            Attack("reads a file of yours", "read", str(secret)),
            Attack("looks into your folders", "list", str(folder)),
            Attack("writes beside your files", "write", str(folder / "written")),
            Attack("reads another program's environment", "environ", str(victim.pid)),
            Attack("signals another program", "signal", str(victim.pid)),
            Attack("debugs another program", "debug", str(victim.pid)),
            Attack("connects by TCP", "tcp", str(port)),
            Attack("sends by UDP", "udp", str(port)),
            Attack("talks to a service of this machine", "service", service),
            Attack("makes a namespace of its own", "namespace", ""),
            Attack("leaves a message in a keyring", "keyring", ""),
            Attack("starts more processes than it may", "processes", str(MORE_PROCESSES), True),
            Attack("takes more memory than it may", "memory", str(MORE_MIB), True),
            Attack("takes it as shared memory", "shared-memory", str(MORE_MIB), True),
            Attack("takes it in files in memory", "open-files", str(MORE_MIB), True),
            Attack("takes it in files between sockets", "flying-files", str(MORE_MIB), True),
            Attack("takes it in a chain of processes", "chain", str(MORE_MIB), True),
            Attack("takes it as page tables", "page-tables", str(MORE_MIB), True),
            Attack("locks a file that others can open", "lock", str(EVERYBODYS)),
            Attack("watches who opens a file", "watch", str(EVERYBODYS)),
            Attack("wakes who waits at a file's page", "wake", str(EVERYBODYS)),
            Attack("reads how busy the machine is", "numbers", "/proc/loadavg"),
            Attack("asks about another program", "ask", str(victim.pid)),
        ]


def attack_all(attacks: list[Attack], tier: Tier) -> list[Finding]:
    """Tries every attack on a tier that works."""
    return [Finding(one, _on(tier, one), _outside(one)) for one in attacks]


def _on(tier: Tier, attack: Attack) -> bool:
    """Blocked, unless the probe reports success."""
    request = Request(
        argv=(str(_probe()), attack.word, attack.argument),
        read_only=(_probe(),),
        limits=LIMITS,
    )
    return run(request, tier).status != THROUGH


def _outside(attack: Attack) -> bool:
    """Only if the probe reports success within SECONDS: a busy machine may take longer."""
    try:
        done = subprocess.run(
            [_probe(), attack.word, attack.argument],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == THROUGH


def _probe() -> Path:
    return programs() / "lab-probe"


@contextmanager
def _victim() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(["/bin/sleep", "600"], env={"SECRET": "secret"})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def _service(path: Path) -> Iterator[str]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(path))
        path.chmod(0o777)
        listener.listen()
        yield str(path)
