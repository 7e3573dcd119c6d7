# SPDX-License-Identifier: MIT
"""Bandwidth and time over size, on logarithmic axes: measurements on four H200s (tests/recorded,
bench/results), latency + bytes / bandwidth, and what chapter 10's program prints."""

import csv
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base import svg
from grader.base.exits import LabError

RECORDED = "tests/recorded/hgx-h200-4/timing.txt"
WIDTH, HEIGHT, LEFT, BELOW, RIGHT = 440, 300, 44, 40, 20  # as wide as a phone
ROW = re.compile(r"^ *(\d+)((?: +[\d.]+){6}) +\|", re.MULTILINE)
COLUMNS = {"peer access": 5, "pinned host": 0, "pageable host": 2, "no peer access": 4}
SIDE_BY_SIDE = "bench/results/truth-h200-4.csv"
SIDES = {
    "peer copy": r"curve\.peer\.(\d+)(\wiB)\.us",
    "from the host": r"curve\.host_to_device\.(\d+)(\wiB)\.us",
    "all-reduce": r"lab07\.pipelined\.(\d+)(\wiB)\.4_gpus\.us",
}
REDUCED_HERE = "bench/results/allreduce-h200-4.csv"
ALLREDUCE = "docs/book/10-allreduce.md"
FORMULA = "formula"
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20}
REDUCED = re.compile(r"^## NCCL all-reduce float sum, (\d) GPUs.*\n.*\n((?: +[\d.]+.*\n)+)", re.M)
Points = Sequence[tuple[float, float]]
Place = Callable[[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """Points of a log-log chart; those of a model are dashed."""

    name: str
    points: Points
    colour: str
    dashed: bool = False


def copies(root: Path) -> str:
    """Four ways of copying, and the formula fitted to their end points."""
    text = (root / RECORDED).read_text(encoding="utf-8")
    lines = []
    for (name, column), colour in zip(COLUMNS.items(), svg.COLOURS, strict=False):
        points = recorded(text, column)
        if len(points) < 2:
            raise LabError(f"{RECORDED} has no table of copies by size")
        lines += [Line(name, points, colour), Line("", modelled(points), colour, dashed=True)]
    words = (
        "Bandwidth over size on four H200s. Lines: measured. Dashed: latency plus bytes over "
        "bandwidth. Peer copies reach 395 GB/s, half of it near 1 MB; without peer access 38"
    )
    return log_log(lines, words, "bytes", "GB/s", FORMULA)


def nccl(root: Path) -> str:
    """NCCL's all-reduce on 2 and 4 GPUs."""
    text = (root / RECORDED).read_text(encoding="utf-8")
    lines = []
    for (gpus, rows), colour in zip(REDUCED.findall(text), svg.COLOURS, strict=False):
        values = [line.split() for line in rows.splitlines()]
        points = [(float(row[0]), float(row[3])) for row in values]
        lines.append(Line(f"NCCL, {gpus} GPUs", points, colour))
        lines.append(Line("", modelled(points), colour, dashed=True))
    if not lines:
        raise LabError(f"{RECORDED} has no table of NCCL's all-reduce")
    words = (
        "Bus bandwidth of NCCL's all-reduce over size on H200s. Lines: measured. Dashed: latency "
        "plus bytes over bandwidth. On four GPUs 60 GB/s at 1 MB and 356 GB/s at 1 GB"
    )
    return log_log(lines, words, "bytes", "GB/s of bus bandwidth", FORMULA)


def calls(root: Path) -> str:
    """An all-reduce on four H200s, started as part of a graph: NCCL's and bench/allreduce's."""
    with (root / REDUCED_HERE).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    lines = []
    for way, colour in zip(("nccl", "nccl windows", "ours"), svg.COLOURS, strict=False):
        mine = [r for r in rows if (r["gpus"], r["way"], r["style"]) == ("4", way, "graph")]
        points = sorted((float(row["bytes"]), float(row["us"])) for row in mine)
        if len(points) < 2:
            raise LabError(f"{REDUCED_HERE} has no times of {way}")
        lines.append(Line(way, points, colour))
    first, last = (tuple(line.points[end][1] for line in lines) for end in (0, -1))
    words = (
        "Time of an all-reduce on four H200s by size. "
        f"At 1 KB NCCL takes {first[0]:.2f} µs, with windows {first[1]:.2f}, ours {first[2]:.2f}; "
        f"at 1 GB {last[0]:.0f}, {last[1]:.0f} and {last[2]:.0f} µs"
    )
    return log_log(lines, words, "bytes", "µs", "")


def ring(root: Path) -> str:
    """What chapter 10's program prints for four GPUs, and the bound where it is not almost 0."""
    text = (root / ALLREDUCE).read_text(encoding="utf-8")
    table = re.search(r"^4 GPUs\n.*\n((?: *\d+(?: +[\d.]+){3}\n)+)", text, re.MULTILINE)
    if table is None:
        raise LabError(f"{ALLREDUCE} prints no table of the ring")
    rows = [[float(word) for word in row.split()] for row in table[1].splitlines()]
    lines = []
    for column, name in ((1, "naive"), (2, "ring"), (3, "bound")):
        points = [(row[0], row[column]) for row in rows if row[column] > 1]
        lines.append(Line(name, points, svg.COLOURS[column - 1], dashed=column == 3))
    words = (
        "Time of both ways by size, and the bound. For small sizes each way takes as long as its "
        f"calls, the naive one {rows[0][1]:g} µs and the ring {rows[0][2]:g}; for 134 MB the naive "
        f"way takes {rows[-1][1]:g} µs, the ring {rows[-1][2]:g}, and the bound is {rows[-1][3]:g}"
    )
    return log_log(lines, words, "bytes", "µs", "")


def truth(root: Path) -> str:
    """Copies and lab 07's all-reduce by size: four H200s, and the virtual node."""
    with (root / SIDE_BY_SIDE).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    lines = []
    for (name, pattern), colour in zip(SIDES.items(), svg.COLOURS, strict=False):
        of_size = [(re.fullmatch(pattern, row["figure"]), row) for row in rows]
        for column, dashed in (("recorded", False), ("modelled", True)):
            points = sorted(
                (size, size / float(row[column]) / 1000)
                for found, row in of_size
                if found
                for size in [int(found[1]) * UNITS[found[2]]]
            )
            if len(points) < 2:
                raise LabError(f"{SIDE_BY_SIDE} has no figures that look like {pattern}")
            lines.append(Line("" if dashed else name, points, colour, dashed=dashed))
    words = (
        "Bytes over time by size. Lines: measured on four H200s. Dashed: the virtual node. Large "
        "copies agree; small all-reduces are up to a third too fast on the virtual node"
    )
    return log_log(lines, words, "bytes", "GB/s", "virtual node")


def recorded(text: str, column: int) -> list[tuple[float, float]]:
    """(bytes, GB/s) of one way of copying, from microseconds by size."""
    found = [(int(size), float(times.split()[column])) for size, times in ROW.findall(text)]
    return [(size, size / us / 1000) for size, us in found if size >= 1024]


def modelled(points: Points) -> list[tuple[float, float]]:
    """latency + bytes / bandwidth, with the first point's latency and the last one's bandwidth."""
    (least, slow), (most, rate) = points[0], points[-1]
    latency_us = least / slow / 1000
    sizes = [2.0**k for k in range(10, round(math.log2(most)) + 1)]
    return [(size, size / (latency_us + size / rate / 1000) / 1000) for size in sizes]


def log_log(lines: Sequence[Line], words: str, across: str, up: str, dashed: str) -> str:
    """A log-log chart; `dashed` explains the dashed lines."""
    xs = [math.log10(x) for line in lines for x, _ in line.points]
    ys = [math.log10(y) for line in lines for _, y in line.points]
    low, high = math.floor(min(ys)), math.ceil(max(ys))

    def place(x: float, y: float) -> tuple[float, float]:
        right = LEFT + (math.log10(x) - min(xs)) / (max(xs) - min(xs)) * (WIDTH - LEFT - RIGHT)
        down = (HEIGHT - BELOW) * (1 - (math.log10(y) - low) / (high - low)) + 10
        return round(right, 1), round(down, 1)

    parts = [_axes(place, 10 ** min(xs), 10 ** max(xs), low, high)]
    parts += [svg.text(LEFT + 4, 24, up)]
    parts += [svg.text(WIDTH - RIGHT, HEIGHT - BELOW + 44, across, "end")]
    for line in lines:
        points = [place(*point) for point in line.points]
        parts.append(svg.polyline(points, line.colour, dashed=line.dashed))
    named = [(line.name, line.colour) for line in lines if line.name]
    parts.append(svg.legend(10, HEIGHT + 20, named[:3]))
    parts.append(svg.legend(10, HEIGHT + 38, named[3:], dashed=dashed))
    return svg.figure(parts, words, WIDTH, HEIGHT + (56 if named[3:] or dashed else 38))


def _axes(place: Place, x0: float, x1: float, low: int, high: int) -> str:
    parts = []
    for decade in range(low, high + 1):
        (left, y), (right, _) = place(x0, 10.0**decade), place(x1, 10.0**decade)
        parts.append(svg.line(left, y, right, y))
        parts.append(svg.text(left - 8, y + 4, f"{10.0**decade:g}", "end"))
    for power in range(10, 31, 6):
        if x0 * 0.99 <= 2.0**power <= x1 * 1.01:
            x, bottom = place(2.0**power, 10.0**low)
            parts.append(svg.text(x, bottom + 18, _size(2**power), "middle"))
    return "".join(parts)


def _size(count: int) -> str:
    for shift, unit in ((30, "GB"), (20, "MB")):
        if count >> shift:
            return f"{count >> shift} {unit}"
    return f"{count >> 10} KB"
