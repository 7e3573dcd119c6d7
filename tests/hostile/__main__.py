# SPDX-License-Identifier: MIT
"""python3 -m tests.hostile GROUP [TIER]: grades a group of hostile submissions and says what held.

PEERLAB_BUILD is the build folder. Exit status 1: something did not hold; 77: this machine has no
sandbox at all, and ./lab grade refuses to grade here. `control` has no sandbox on purpose: what
must succeed there succeeds, and is noticed.
"""

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.sandbox import Tier, tier
from tests.hostile.battle import Result, battle, control
from tests.hostile.corpus import groups, load
from tests.hostile.course import arena
from tests.hostile.ingest import ingest

OTHERS = ("control", "ingest")
PATIENCE = {"LAB_CPU_SECONDS": "1", "LAB_IDLE_SECONDS": "2", "LAB_WALL_SECONDS": "12"}


def main(words: list[str]) -> int:
    if len(words) not in (1, 2) or words[0] not in (*groups(), *OTHERS):
        names = "|".join([*groups(), *OTHERS])
        print(f"usage: python3 -m tests.hostile {names} [TIER]", file=sys.stderr)
        return 2
    if words[0] == "ingest":
        return _tell("ingest", "no sandbox: nothing of it is run", ingest())
    try:
        used = Tier(words[1]) if len(words) == 2 else tier()
    except LabError as error:
        print(error)
        return ExitStatus.CANNOT_RUN
    os.environ.update(PATIENCE)
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        Path(folder).chmod(0o711)
        tempfile.tempdir = folder
        with arena(Path(folder), used) as place:
            if words[0] == "control":
                status = _tell("control", "no sandbox, on purpose", control(place))
            else:
                results = battle(place, load(words[0]), used)
                status = _tell(words[0], f"sandbox tier {used}", results)
        tempfile.tempdir = None
    return status


def _tell(group: str, about: str, results: Iterable[Result]) -> int:
    failed = passed = 0
    for result in results:
        word = "FAIL" if result.problems else "held"
        print(f"{word}  {group}.{result.name:<28}{result.told}  {result.seconds:.1f} s")
        for problem in result.problems:
            print(f"      {problem}")
        sys.stdout.flush()
        failed += bool(result.problems)
        passed += not result.problems
    print(f"hostile {group}, {about}: {passed} held, {failed} did not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
