# SPDX-License-Identifier: MIT
"""python3 -m tests.hostile.every_tier: the corpus on every tier that this machine gives.

Where we are root, the tier of plain users is tried as a plain user: only then are submissions and
the grader of the same user, which is what makes that tier weak. Without PEERLAB_FULL in the
environment only that, and of the corpus only what it is weakest against.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from grader.base.exits import ExitStatus
from grader.sandbox import Tier
from grader.sandbox.tiers import candidates, why_not
from tests.hostile.corpus import groups

NOBODY = 65534
SECONDS = 2400  # of a group


def main() -> int:
    full = "PEERLAB_FULL" in os.environ
    wanted = groups() if full else ["leak"]
    battles: list[tuple[Tier, int | None]] = [
        (tier, None)
        for tier in candidates()
        if (full or tier is Tier.LANDLOCK) and not why_not(tier)
    ]
    if os.geteuid() == 0 and _may_read(NOBODY):
        battles.append((Tier.LANDLOCK, NOBODY))
    failed = [
        f"{tier} {name}" for tier, user in battles for name in wanted if _fails(name, tier, user)
    ]
    print(f"did not hold: {', '.join(failed) or 'nothing'}")
    if failed:
        return ExitStatus.FAILED
    return ExitStatus.OK if battles else ExitStatus.CANNOT_RUN


def _as(user: int) -> list[str]:
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]


def _may_read(user: int) -> bool:
    """Whether a plain user gets at the checkout and its build; says so where not."""
    places = [Path(__file__), Path(os.environ["PEERLAB_BUILD"], "bin", "lab-jail")]
    words = [*_as(user), "cat", *places]
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode != 0:
        print(f"user {user} cannot read this checkout: a plain user's tier was not tried")
    return done.returncode == 0


def _fails(name: str, tier: Tier, user: int | None) -> bool:
    """Runs a group and shows what it says. `user`: as somebody else, in a folder of theirs."""
    words = [sys.executable, "-B", "-m", "tests.hostile", name, tier.value]
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        Path(folder).chmod(0o711)
        if user is not None:
            os.chown(folder, user, user)
            words = [*_as(user), *words]
        env = {**os.environ, "TMPDIR": folder, "HOME": folder}
        done = subprocess.run(words, env=env, timeout=SECONDS, check=False)
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
