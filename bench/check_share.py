#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of all detectors in the labs' tests: check_share.py BUILD [LAB...].

Runs every case of the labs' solutions (03 and 07) as ctest does, with VGPU_CHECK=none and with
VGPU_CHECK=all, and compares the CPU time of all their processes. Prints the ratios with their goal;
fails if a case did.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

GOAL = 3.0
RUNS = 2  # the least of this many


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def once(build: Path, lab: str, checks: str) -> float:
    """CPU seconds of all cases of a lab's solution."""
    words = ["ctest", "--test-dir", str(build), "-R", rf"^solution{lab}\.", "-j1"]
    before = cpu_seconds()
    done = subprocess.run(
        words,
        env=os.environ | {"VGPU_CHECK": checks},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{' '.join(words)} with VGPU_CHECK={checks}: {done.returncode}")
    return cpu_seconds() - before


def main() -> int:
    build, labs = Path(sys.argv[1]), sys.argv[2:] or ["03", "07"]
    for lab in labs:
        without, checked = (
            min(once(build, lab, checks) for _ in range(RUNS)) for checks in ("none", "all")
        )
        held = "yes" if checked <= GOAL * without else "NO"
        print(
            f"{f'lab {lab}, checked':<24} {f'ratio <= {GOAL:.0f}':<16} {held:<4} "
            f"CPU {checked:.2f} s; VGPU_CHECK=all / none: CPU {checked / without:.2f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
