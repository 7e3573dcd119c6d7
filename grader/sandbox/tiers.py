# SPDX-License-Identifier: MIT
"""Which tier this machine gives: the best that a harmless program comes through. Whether it holds,
`./lab doctor` finds out by attacking it."""

import os
from functools import cache
from pathlib import Path

from grader.exits import ExitStatus, LabError
from grader.project import here
from grader.sandbox.policy import bwrap_version
from grader.sandbox.request import Request, SandboxError, Tier

VARIABLE = "PEERLAB_TIER"  # a person's choice, by name


def programs() -> Path:
    """Where the build put its programs; PEERLAB_BUILD names another build than ./lab's own."""
    return Path(os.environ.get("PEERLAB_BUILD") or here().build_dir) / "bin"


def jail_program() -> Path:
    """harness/jail, built. LabError when it is not."""
    path = programs() / "lab-jail"
    if not path.is_file():
        raise LabError(
            f"{path} is not built, and nothing of a submission is started without it. "
            "Run ./lab start.",
            ExitStatus.NOT_CONFIGURED,
        )
    return path


def tier() -> Tier:
    """The tier that is used. SandboxError where there is none and nobody said to do without."""
    wanted = os.environ.get(VARIABLE)
    if wanted:
        return _named(wanted)
    found = _best()
    if found is None:
        raise SandboxError(
            "this machine gives no sandbox: neither bubblewrap nor Landlock works here. Run ./lab "
            f"doctor to see why. Submissions would run with your rights; {VARIABLE}=bare in the "
            "environment does that all the same."
        )
    return found


def candidates() -> list[Tier]:
    """The tiers that could be, best first, by who we are."""
    plain = Tier.UID if os.geteuid() == 0 else Tier.LANDLOCK
    return [Tier.BUBBLEWRAP, plain] if bwrap_version() else [plain]


def why_not(candidate: Tier) -> str:
    """What keeps a tier from working here; "" when nothing does."""
    from grader.sandbox.supervise import run  # it needs our answer itself

    try:
        inner = run(Request(argv=("/usr/bin/true",)), candidate)
        if inner.ok and candidate is Tier.BUBBLEWRAP:  # vgpu-exec is held by Landlock
            return why_not(Tier.UID if os.geteuid() == 0 else Tier.LANDLOCK)
    except SandboxError as error:
        return str(error)
    return "" if inner.ok else f"/usr/bin/true ended with status {inner.status}: {inner.text}"


@cache
def _best() -> Tier | None:
    for candidate in candidates():
        if not why_not(candidate):
            return candidate
    return None


def _named(name: str) -> Tier:
    try:
        return Tier(name)
    except ValueError:
        names = ", ".join(tier.value for tier in Tier)
        raise LabError(f"{VARIABLE}={name}: there is {names}.", ExitStatus.USAGE) from None
