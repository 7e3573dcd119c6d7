# SPDX-License-Identifier: MIT
"""The virtual clock against the recording of 4 H200s: calibration.py PROGRAM RECORDED [--table].

PROGRAM is timing.cu built with vgpu-cc; it runs on the node `hgx-h200-4`. RECORDED is the folder
with timing.txt and pageable.txt. Every row is compared. Fails when fewer than 90 % are within 10 %,
or when any is off by more than 25 %.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

NEAR, FAR, ENOUGH = 0.10, 0.25, 0.90

BASIC = {
    "launch issue+sync": "basic.launch_and_wait",
    "launch async issue": "basic.launch",
    "kernel back-to-back (event)": "basic.kernels_back_to_back",
    "event record issue": "basic.record",
    "setDevice": "basic.set_device",
}
COPIES = ["h2d_pinned", "d2h_pinned", "h2d_pageable", "local", "staged", "peer"]
CONTENTION = {
    "0->1": "one",
    "0->1 + 1->0 (bidir)": "both_ways",
    "0->1 x2 streams same dir": "same_way",
    "0->1,2->3 disjoint": "disjoint",
    "0->1,0->2 fan-out": "fan_out",
    "0->1,2->1 fan-in": "fan_in",
    "0->1,0->2,0->3 fan-out3": "fan_out_3",
    "ring 4": "ring",
    "ring 4 both directions": "ring_both_ways",
}
KERNELS = {
    "push write": "push",
    "pull read": "pull",
    "local copy(rd+wr)": "copy",
    "local sum read": "sum",
    "remote sum read": "peer_sum",
}
ALONE = ["h2d_pageable", "d2h_pageable", "h2d_pinned", "d2h_pinned"]


def recorded_timing(text: str) -> dict[str, float]:
    """{name: figure} of timing.txt; NCCL's and the direct kernels' tables are not copies."""
    rows = {}
    for line in text.split("## NCCL")[0].splitlines():
        for label, name in BASIC.items():
            if found := re.fullmatch(re.escape(label) + r" ([\d.]+)", line):
                rows[name] = float(found[1])
        if found := re.match(r"cudaMalloc 64MB ([\d.]+) free ([\d.]+)", line):
            rows["basic.malloc"], rows["basic.free"] = float(found[1]), float(found[2])
        if re.match(r" +\d+( +[\d.]+){6} \|", line):
            size, *times = line.split("|")[0].split()
            for path, us in zip(COPIES, times, strict=True):
                rows[f"copy.{path}.{size}"] = float(us)
        if found := re.match(r"(\S.*?) +([\d.]+) us ", line):
            rows["contention." + CONTENTION[found[1]]] = float(found[2])
        if line.startswith("push write"):
            for label, name in KERNELS.items():
                rows["kernel_gbs." + name] = float(
                    re.search(re.escape(label) + r" ([\d.]+)", line)[1]
                )
    return rows


def recorded_alone(text: str) -> dict[str, float]:
    """{name: microseconds} of pageable.txt."""
    rows = {}
    for line in text.splitlines()[1:]:
        size, *times = line.split("|")[0].split()
        for path, us in zip(ALONE, times, strict=True):
            rows[f"alone.{path}.{size}"] = float(us)
    return rows


def recorded_elsewhere(folder: Path) -> dict[str, float]:
    """Small copies between GPUs took a quarter less on timing.txt's machine than on those that
    ./lab calibrate has measured: the median of these counts."""
    runs = [path.read_text() for path in sorted(folder.glob("calibrate*.txt"))]
    rows = {}
    for bytes_there, bytes_here in ((16, 4), (1024, 1024)):
        label = rf"^copy\.peer\.{bytes_there}\.us ([\d.]+)$"
        found = [float(re.search(label, text, re.M)[1]) for text in runs]
        rows[f"copy.peer.{bytes_here}"] = statistics.median(found)
    return rows


def modelled(program: str) -> dict[str, float]:
    environment = dict(os.environ, VGPU_NODE="hgx-h200-4")
    done = subprocess.run(
        [program], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{program} ended with {done.returncode}: {done.stderr}")
    return {name: float(value) for name, value in (x.split() for x in done.stdout.splitlines())}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--table", action="store_true", help="print every row, not only the worst")
    options = parser.parse_args()
    recorded = recorded_timing((options.recorded / "timing.txt").read_text())
    recorded |= recorded_alone((options.recorded / "pageable.txt").read_text())
    recorded |= recorded_elsewhere(options.recorded)
    ours = modelled(options.program)
    missing = sorted(set(recorded) ^ set(ours))
    if missing:
        sys.exit(f"recorded or modelled, but not both: {', '.join(missing)}")
    rows = {name: (ours[name], recorded[name], ours[name] / recorded[name] - 1) for name in ours}
    worst = sorted(rows, key=lambda name: -abs(rows[name][2]))
    print(f"{'figure':<32}{'modelled':>12}{'recorded':>12}{'error':>9}")
    for name in rows if options.table else worst[:5]:
        print(f"{name:<32}{rows[name][0]:>12.2f}{rows[name][1]:>12.2f}{rows[name][2]:>+9.1%}")
    near = sum(abs(error) <= NEAR for _, _, error in rows.values())
    farthest = abs(rows[worst[0]][2])
    print(
        f"{near} of {len(rows)} rows within {NEAR:.0%} ({near / len(rows):.1%}), "
        f"the worst off by {farthest:.1%}"
    )
    return 1 if near < ENOUGH * len(rows) or farthest > FAR else 0


if __name__ == "__main__":
    sys.exit(main())
