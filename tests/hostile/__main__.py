# SPDX-License-Identifier: MIT
"""python3 -m tests.hostile GROUP [TIER]: grades a group of hostile submissions and says what held.

PEERLAB_BUILD is the build folder. Exit status 1: something did not hold.
"""

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from grader.sandbox import Tier, tier
from tests.hostile.battle import Result, battle
from tests.hostile.corpus import groups, load
from tests.hostile.course import arena
from tests.hostile.ingest import ingest

PATIENCE = {"LAB_CPU_SECONDS": "2", "LAB_IDLE_SECONDS": "3", "LAB_WALL_SECONDS": "12"}


def main(words: list[str]) -> int:
    if len(words) not in (1, 2) or words[0] not in (*groups(), "ingest"):
        names = "|".join([*groups(), "ingest"])
        print(f"usage: python3 -m tests.hostile {names} [TIER]", file=sys.stderr)
        return 2
    if words[0] == "ingest":
        return _tell("ingest", "no sandbox: nothing of it is run", ingest())
    used = Tier(words[1]) if len(words) == 2 else tier()
    os.environ.update(PATIENCE)
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        Path(folder).chmod(0o711)
        tempfile.tempdir = folder
        with arena(Path(folder)) as place:
            about = f"sandbox tier {used}"
            status = _tell(words[0], about, battle(place, load(words[0]), used))
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
