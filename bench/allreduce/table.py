# SPDX-License-Identifier: MIT
"""Prints the table of a run of allreduce-bench, as Markdown, from its CSV file.

python3 bench/allreduce/table.py bench/results/allreduce-h200-4.csv 4
"""

import csv
import math
import sys
from pathlib import Path

PEERS = ("nccl", "nccl windows")
OURS = "ours"
LAB = "lab 07 ring"

Rows = dict[tuple[int, int, str, str], dict[str, float]]  # gpus, bytes, way, style


def read(path: Path) -> Rows:
    """The rows by number of GPUs, size, way and style; without comment lines."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    rows: Rows = {}
    for row in csv.DictReader(lines):
        key = (int(row["gpus"]), int(row["bytes"]), row["way"], row["style"])
        rows[key] = {name: float(row[name]) for name in ("us", "busbw_gb_s")}
    return rows


def sizes(rows: Rows, gpus: int) -> list[int]:
    return sorted({key[1] for key in rows if key[0] == gpus})


def ratio(rows: Rows, gpus: int, size: int, style: str = "graph") -> float:
    """The time of the better NCCL variant over ours, started the same way."""
    peer = min(rows[gpus, size, way, style]["us"] for way in PEERS)
    return peer / rows[gpus, size, OURS, style]["us"]


def geometric_mean(rows: Rows, gpus: int, least: int, most: int) -> float:
    ratios = [ratio(rows, gpus, size) for size in sizes(rows, gpus) if least <= size <= most]
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def name_of(size: int) -> str:
    for unit, shift in (("Gi", 30), ("Mi", 20), ("Ki", 10)):
        if size >= 1 << shift:
            return f"{size >> shift} {unit}B"
    return f"{size} B"


def figure(us: float) -> str:
    return f"{us:.2f}" if us < 100 else f"{us:.0f}"


def table(rows: Rows, gpus: int, *others: str) -> str:
    """Microseconds per call, replayed from a graph: NCCL's ways, ours, and others."""
    shown = (*PEERS, OURS, *others)
    head = ["size", *shown, "busbw", "ratio"]
    lines = ["| " + " | ".join(head) + " |", "|" + "--:|" * len(head)]
    for size in sizes(rows, gpus):
        cells = [name_of(size)]
        cells += [figure(rows[gpus, size, way, "graph"]["us"]) for way in shown]
        cells += [f"{rows[gpus, size, OURS, 'graph']['busbw_gb_s']:.1f}"]
        cells += [f"{ratio(rows, gpus, size):.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        sys.exit("usage: table.py FILE.csv GPUS")
    print(table(read(Path(sys.argv[1])), int(sys.argv[2]), LAB))
