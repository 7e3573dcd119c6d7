# SPDX-License-Identifier: MIT
"""Compares both forms of kernels: compare.py PROGRAM [--tiny], where PROGRAM is forms.cu.

Each form runs three times, in turn. Prints one line per kernel: the least seconds in each form, and
the speed-up of the fast one. Their output must be the same.
"""

import os
import subprocess
import sys

ROUNDS = 3


def run(form: str) -> dict[str, tuple[float, str]]:
    """For each kernel its seconds, and the sum of its output."""
    done = subprocess.run(
        sys.argv[1:],
        env=dict(
            os.environ, VGPU_FORM=form, VGPU_NODE="single", VGPU_NODE_ID=f"forms-{os.getpid()}"
        ),
        check=True,
        capture_output=True,
        text=True,
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: (float(seconds), written) for name, seconds, written in lines}


def main() -> int:
    rounds = [(run("careful"), run("fast")) for _ in range(ROUNDS)]
    print(f"{'kernel':10} {'careful':>10} {'fast':>10} {'ratio':>7}")
    for name in rounds[0][0]:
        careful = min(one[name][0] for one, _ in rounds)
        fast = min(other[name][0] for _, other in rounds)
        written = {form[name][1] for both in rounds for form in both}
        print(f"{name:10} {careful:8.4f} s {fast:8.4f} s {careful / fast:6.1f}x")
        if len(written) != 1:
            print(f"{name}: the forms have not written the same")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
