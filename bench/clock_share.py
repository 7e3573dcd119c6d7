#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The share of its lifetime that a node spends in clock and links: clock_share.py BUILD [LAB...].

Runs every case of the labs' solutions (03 and 04), each with a trace, as ctest does, and adds up
the times that their nodes report (VGPU_CLOCK_COST). Prints the figures with their goal; fails if
one is not met, or a case failed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

GOAL = 0.10


def share(build: Path, lab: str) -> tuple[int, int, int, int]:
    """(nanoseconds in the clock, nanoseconds of the nodes' lifetimes, operations, nodes) of all
    cases of a lab."""
    with tempfile.TemporaryDirectory() as folder:
        costs = Path(folder, "costs")
        more = {"VGPU_CLOCK_COST": str(costs), "VGPU_TRACE": str(Path(folder, "trace.json"))}
        words = ["ctest", "--test-dir", str(build), "-R", rf"^solution{lab}\.", "-j1"]
        done = subprocess.run(
            words, env=os.environ | more, capture_output=True, text=True, timeout=600, check=False
        )
        if done.returncode != 0:
            sys.exit(f"{done.stdout}\n{' '.join(words)} ended with {done.returncode}")
        lines = [[int(word) for word in line.split()] for line in costs.read_text().splitlines()]
    clock, life, operations = (sum(column) for column in zip(*lines, strict=True))
    return clock, life, operations, len(lines)


def main() -> int:
    build, labs = Path(sys.argv[1]), sys.argv[2:] or ["03", "04"]
    good = True
    for lab in labs:
        clock, life, operations, nodes = share(build, lab)
        good &= clock < GOAL * life
        held = "yes" if clock < GOAL * life else "NO"
        print(
            f"{f'clock and links, lab {lab}':<24} {f'{GOAL:.0%} of the wall':<16} {held:<4} "
            f"{clock / life:.2%}: {clock / 1e6:.1f} of {life / 1e6:.0f} ms, "
            f"{operations} operations, {nodes} nodes that ended by themselves"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
