# SPDX-License-Identifier: MIT
"""The ring of lab 07 on the virtual clock and on 4 H200s: ring.py PROGRAM RECORDED README [BITS].

PROGRAM is the lab's `allreduce`, RECORDED the folder with ring.txt, README the lab's, whose table
for the virtual node must be what PROGRAM prints. At 1, 16 and 256 MiB every way around the ring
must take what was recorded, to a tenth: the mean of ring.txt, and where bench/results has
recordings of other machines, the median of that and them. BITS: log2 of the most bytes; 28 takes
minutes.
"""

import csv
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

WAYS = ("naive", "calls", "ring", "pipelined", "one shot")
AROUND = ("calls", "ring", "pipelined")
SIZES = {"1 MiB": 1 << 20, "16 MiB": 1 << 24, "256 MiB": 1 << 28}
NEAR = 0.10
GPUS = 4

Times = dict[int, dict[str, float]]  # bytes, way: microseconds


def table(text: str) -> Times:
    rows: Times = {}
    for line in text.splitlines():
        if re.match(r" +\d+ +[\d.]+ ", line):
            size, *rest = line.replace("too large", "nan nan").split()
            rows[int(size)] = dict(zip(WAYS, map(float, rest[::2]), strict=True))
    return rows


def recorded_times(text: str) -> Times:
    """The mean of all recordings with as many GPUs."""
    parts = [table(part) for part in text.split("## ") if part.startswith(f"{GPUS} GPUs")]
    return {
        size: {way: statistics.mean(part[size][way] for part in parts) for way in WAYS}
        for size in parts[0]
    }


def with_elsewhere(mean: Times, results: Path) -> Times:
    """ring.txt's machine launched graphs in less time than all others."""
    found: dict[str, list[float]] = {}
    for path in sorted(results.glob("truth-h200-4*.csv")):
        with path.open(encoding="utf-8") as lines:
            next(lines)  # the machine
            for row in csv.DictReader(lines):
                found.setdefault(row["figure"], []).append(float(row["recorded"]))
    told = {size: dict(ways) for size, ways in mean.items()}
    for name, size in SIZES.items():
        for way in AROUND:
            others = found.get(f"lab07.{way}.{name.replace(' ', '')}.{GPUS}_gpus.us", [])
            told[size][way] = statistics.median([mean[size][way], *others])
    return told


def run(program: str, bits: str) -> Times:
    env = {**os.environ, "VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"ring-{os.getpid()}"}
    done = subprocess.run(
        [program, str(GPUS), bits], env=env, capture_output=True, text=True, timeout=1500
    )
    if done.returncode:
        sys.exit(done.stderr)
    return table(done.stdout)


def differences(readme: Times, modelled: Times) -> list[str]:
    """Rows of the README that came out otherwise; two columns depend on the most bytes, too."""
    return [
        f"README, {size} bytes, {way}: {readme[size][way]}, now {modelled[size][way]}"
        for size in readme
        for way in AROUND
        if size in modelled and readme[size][way] != modelled[size][way]
    ]


def main() -> int:
    program, recorded_dir, readme_path, *rest = sys.argv[1:]
    recorded = recorded_times((Path(recorded_dir) / "ring.txt").read_text())
    recorded = with_elsewhere(recorded, Path(recorded_dir).parents[2] / "bench" / "results")
    readme = Path(readme_path).read_text().split("$ allreduce 4 28")[0]
    modelled = run(program, rest[0] if rest else "24")
    wrong = differences(table(readme), modelled)
    if not table(readme):
        wrong.append("README: there is no table in it")
    print("bytes     way        modelled   recorded    error")
    for name, size in SIZES.items():
        for way in AROUND if size in modelled else ():
            model, real = modelled[size][way], recorded[size][way]
            error = model / real - 1
            print(f"{name:8}  {way:10} {model:8.1f}   {real:8.1f}   {error:+6.1%}")
            if abs(error) > NEAR:
                wrong.append(f"{name} {way}: {model:.1f} us, recorded {real:.1f}")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
