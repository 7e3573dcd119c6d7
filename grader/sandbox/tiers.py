# SPDX-License-Identifier: MIT
"""Selects the tier for this machine: the best in which a harmless program runs. `./lab doctor`
tests by attacks whether it isolates."""

import os
from functools import cache

from grader.base.exits import ExitStatus, LabError
from grader.sandbox.policy import bwrap_version
from grader.sandbox.request import Request, SandboxError, Tier
from grader.sandbox.supervise import run

VARIABLE = "PEERLAB_TIER"  # selects another tier than the best, by name: for tests


def tier() -> Tier:
    """The selected tier: the best that works. LabError if there is none: running without one needs
    the user's explicit request."""
    wanted = os.environ.get(VARIABLE)
    found = _named(wanted) if wanted else _best()
    if found is None:
        raise LabError(
            "There is no sandbox on this machine, and submissions are other people's programs: "
            "they could read your files and write their own marks. ./lab doctor says what to "
            "install. --unsafe-no-sandbox runs them without one, with your rights.",
            ExitStatus.MISSING,
        )
    return found


def candidates() -> list[Tier]:
    """The possible tiers for our uid, best first."""
    plain = Tier.UID if os.geteuid() == 0 else Tier.LANDLOCK
    return [Tier.BUBBLEWRAP, plain] if bwrap_version() else [plain]


def why_not(candidate: Tier) -> str:
    """Why a tier does not work here; "" if it does."""
    try:
        inner = run(Request(argv=("/usr/bin/true",)), candidate)
        if inner.ok and candidate is Tier.BUBBLEWRAP:  # Landlock confines vgpu-exec
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
    """A tier that was requested by name, and works."""
    known = {tier.value: tier for tier in candidates()}
    if name not in known:
        raise LabError(f"{VARIABLE}={name}: there is {', '.join(known)} here.", ExitStatus.USAGE)
    reason = why_not(known[name])
    if reason:
        raise LabError(f"{VARIABLE}={name} does not work here: {reason}", ExitStatus.MISSING)
    return known[name]
