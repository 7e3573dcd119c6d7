# SPDX-License-Identifier: MIT
"""Kernels by what limits them, beside an H200: kernels.py PROGRAM RECORDED [--table] [GROUP...].

PROGRAM is kernels.cu built with vgpu-cc; RECORDED what it printed on the card. The model of a
kernel (docs/virtual-time.md) was fitted to these by hand. Fails when fewer than 80 % are within
15 %.
"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

NEAR, ENOUGH = 0.15, 0.80
NOT_MODELLED = ("launch.events.us", "launch.twenty.us")  # the host's part of both


def rows_of(text: str) -> dict[str, float]:
    pairs = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, value in pairs if name not in NOT_MODELLED}


def modelled(program: str, groups: list[str]) -> dict[str, float]:
    environment = dict(os.environ, VGPU_NODE="hgx-h200-4")
    done = subprocess.run(
        [program, *groups],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{program} ended with {done.returncode}: {done.stderr}")
    return rows_of(done.stdout)


def table(ours: dict[str, float], recorded: dict[str, float]) -> list[str]:
    errors = {name: ours[name] / recorded[name] - 1 for name in ours}
    lines = [f"{'kernels':<12}{'number':>7}{'median':>9}{'within 15%':>12}   the worst"]
    for group in dict.fromkeys(name.split(".")[0] for name in ours):
        own = {name: error for name, error in errors.items() if name.startswith(group + ".")}
        worst = max(own, key=lambda name: abs(own[name]))
        near = sum(abs(error) <= NEAR for error in own.values())
        middle = statistics.median(abs(error) for error in own.values())
        lines.append(
            f"{group:<12}{len(own):>7}{middle:>9.1%}{near:>12}   {worst} {own[worst]:+.0%}"
        )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("recorded", type=Path)
    parser.add_argument("group", nargs="*")
    parser.add_argument("--table", action="store_true", help="print every row")
    words = parser.parse_args()
    recorded = rows_of(words.recorded.read_text(encoding="utf-8"))
    ours = modelled(words.program, words.group)
    unknown = sorted(set(ours) - set(recorded))
    if unknown:
        sys.exit(f"not recorded: {', '.join(unknown)}")
    print("\n".join(table(ours, recorded)))
    for name in ours if words.table else ():
        error = ours[name] / recorded[name] - 1
        print(f"{name:<36}{ours[name]:>10.4g}{recorded[name]:>10.4g}{error:>+9.1%}")
    errors = [abs(ours[name] / recorded[name] - 1) for name in ours]
    near = sum(error <= NEAR for error in errors)
    print(
        f"{near} of {len(errors)} kernels within 15%, median error {statistics.median(errors):.1%}"
    )
    return 1 if near < ENOUGH * len(errors) else 0


if __name__ == "__main__":
    sys.exit(main())
