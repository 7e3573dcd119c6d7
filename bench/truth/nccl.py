# SPDX-License-Identifier: MIT
"""NCCL's collectives on the virtual node, beside what NCCL took on real GPUs.

    nccl.py PROGRAM NODE RECORDED [--most BYTES] [--calls]

PROGRAM is truth-nccl, RECORDED what it printed on real GPUs (its names say on how many), or a CSV
of bench/allreduce, of which the rows of NCCL in graphs count. The table
has a line for each collective; the error of a size is how far both are apart, in part of the
recorded one. It fails if the mean of a collective is above MEAN, or one size above WORST.
--calls: with the times of calls back to back, which depend on the host and are not limited.
"""

import argparse
import csv
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

MEAN = 0.05
WORST = 0.25
PATIENCE_S = 3000


def read(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in map(str.split, text.splitlines())}


def recorded_in(path: Path) -> dict[str, float]:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".csv":
        return read(text)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    rows = [row for row in csv.DictReader(lines) if (row["way"], row["style"]) == ("nccl", "graph")]
    return {
        f"nccl.all_reduce.{row['gpus']}.graph.{row['bytes']}.us": float(row["us"]) for row in rows
    }


def parts(name: str) -> tuple[str, int, str, int]:
    found = re.fullmatch(r"nccl\.(\w+)\.(\d+)\.(\w+)\.(\d+)\.us", name)
    if not found:
        raise SystemExit(f"{name} is no figure of truth-nccl")
    return found[1], int(found[2]), found[3], int(found[4])


def modelled(program: Path, node: str, recorded: dict[str, float], most: int) -> dict[str, float]:
    gpus = {parts(name)[1] for name in recorded}
    sizes = sorted({parts(name)[3] for name in recorded})
    env = dict(os.environ) | {"VGPU_NODE": node, "VGPU_NODE_ID": f"nccl-{os.getpid()}"}
    asked = [str(size) for size in sizes if size <= most]
    found: dict[str, float] = {}
    for number in sorted(gpus):
        words = [str(program), str(number), asked[-1], *asked]
        done = subprocess.run(
            words, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"{program.name} ended with {done.returncode}: {done.stderr}")
        found |= read(done.stdout)
    return found


def table(found: dict[str, float], recorded: dict[str, float], styles: list[str]) -> list[str]:
    """A line for each collective, style and number of GPUs."""
    groups: dict[tuple[str, int, str], dict[int, float]] = {}
    for name, value in found.items():
        kind, gpus, style, size = parts(name)
        if style in styles:
            groups.setdefault((style, gpus, kind), {})[size] = value / recorded[name] - 1
    lines = [f"{'collective':28} {'sizes':>5} {'mean':>7} {'worst':>7}  at"]
    for (style, gpus, kind), errors in groups.items():
        size = max(errors, key=lambda at: abs(errors[at]))
        mean = statistics.fmean(map(abs, errors.values()))
        title = f"{kind}, {gpus} GPUs, {style}"
        lines.append(f"{title:28} {len(errors):5} {mean:7.1%} {errors[size]:+7.1%}  {size}")
    return lines


def complaints(found: dict[str, float], recorded: dict[str, float]) -> list[str]:
    """What is further off than it may be, of the times in graphs."""
    told = []
    by_kind: dict[str, list[float]] = {}
    for name, value in found.items():
        kind, gpus, style, _ = parts(name)
        error = abs(value / recorded[name] - 1)
        if style != "graph":
            continue
        by_kind.setdefault(f"{kind} on {gpus} GPUs", []).append(error)
        if error > WORST:
            told.append(f"{name}: {value:.4g}, recorded {recorded[name]:.4g}")
    for kind, errors in by_kind.items():
        if statistics.fmean(errors) > MEAN:
            told.append(f"{kind}: mean error {statistics.fmean(errors):.1%}, at most {MEAN:.0%}")
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("node")
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--most", type=int, default=1 << 20)
    parser.add_argument("--calls", action="store_true")
    words = parser.parse_args()
    recorded = recorded_in(words.recorded)
    modelled_all = modelled(words.program, words.node, recorded, words.most)
    found = {name: value for name, value in modelled_all.items() if name in recorded}
    print("\n".join(table(found, recorded, ["graph", "calls"] if words.calls else ["graph"])))
    told = complaints(found, recorded)
    for line in told:
        print(line)
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
