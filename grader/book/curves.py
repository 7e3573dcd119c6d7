# SPDX-License-Identifier: MIT
"""Curves on linear axes: what a chapter's formula gives, with dots for what the chapter's program
prints; `formulas.py` has more of them. Tests compare the formulas with the tables and outputs of
the chapters."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base import svg
from grader.base.exits import LabError

WIDTH, HEIGHT, LEFT, BELOW, RIGHT, TOP = 440, 260, 36, 40, 12, 20  # as wide as a phone
STEPS = r"^(\d) GPUs, 2048 x 2048: ([\d.]+) us"
CHAINS = r"^chain, (\d+) pieces +([\d.]+) ms"
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """What is measured, the last value, and the values that are written."""

    name: str
    last: float
    ticks: Sequence[float]


def speed_up(gpus: int, work: float, combining: float) -> float:
    """Chapter 1: Amdahl's law, times in ms."""
    return work / (work / gpus + (combining if gpus > 1 else 0))


def host_calls(gpus: int) -> float:
    """Chapter 4: the calls that a step of `peer` takes the host, in microseconds. A GPU waits for
    its own last step and for each neighbour's."""
    return sum(calls_of_a_step(gpus))


def calls_of_a_step(gpus: int) -> tuple[float, float, float]:
    """Chapter 4: launches, waits and records."""
    waits = sum(1 + (g > 0) + (g < gpus - 1) for g in range(gpus))
    return gpus * 2.97, waits * 1.27, gpus * 0.11


def share(megabytes: float, rate: float) -> float:
    """Chapter 5: the share of a link of `rate` GB/s, in per cent, with a latency of 1.66 µs."""
    return 100 * megabytes / (1.66e-3 * rate + megabytes)


def divided(work: float, gpus: int) -> float:
    """Chapter 15: work of that many microseconds on several GPUs, which cost 20 µs more."""
    return work / gpus + (20 if gpus > 1 else 0)


def on_the_wire(pieces: int) -> float:
    """Chapter 9: a chain of four ranks, 64 MiB at 395 GB/s, in microseconds."""
    return (4 - 1 + pieces - 1) / pieces * 170


def printed(root: Path, chapter: str, pattern: str) -> Points:
    """Numbers that a chapter's programs print, first of each place. LabError: it has no numbers."""
    text = (root / "docs/book" / chapter).read_text(encoding="utf-8")
    found: dict[float, float] = {}
    for x, y in re.findall(pattern, text, re.MULTILINE):
        found.setdefault(float(x), float(y))
    if not found:
        raise LabError(f"{chapter} prints nothing that looks like {pattern}")
    return sorted(found.items())


def speed_ups(_root: Path) -> str:
    """Four values of c on up to 16 GPUs."""
    lines = [
        (f"c = {c:g} ms", [(g, speed_up(g, 20, c)) for g in range(1, 17)]) for c in (0, 0.25, 1, 5)
    ]
    words = (
        "Speed-up of 20 ms of work on 1 to 16 GPUs. Without combining it is 16 on 16 GPUs; with "
        "1 ms it is 8.9; with 5 ms it is 3.2, and 8 GPUs are nearly as fast as 16"
    )
    across = Axis("GPUs", 16, (1, 2, 4, 8, 12, 16))
    return plot(lines, [], words, across, Axis("speed-up", 16, (0, 4, 8, 12, 16)))


def limits(root: Path) -> str:
    """Chapter 4's two limits of a step, and what `peer` takes."""
    found = printed(root, "04-peer-access.md", STEPS)
    kernels = printed(root, "04-peer-access.md", r"^\| (\d) \| ([\d.]+) µs \|")
    lines = [
        ("the host's calls", [(g, host_calls(g)) for g in (2, 3, 4)]),
        ("kernel and event", [(g, us + 5) for g, us in kernels]),
    ]
    words = (
        "Time of a step on 2, 3 and 4 GPUs. The kernel and the event take 22.4, 18.1 and 15.8 µs, "
        "the host's calls 11.2, 18.1 and 25.0 µs; each dot, the program, is above the larger one"
    )
    across = Axis("GPUs", 4, (2, 3, 4))
    return plot(lines, found, words, across, Axis("µs a step", 30, (0, 10, 20, 30)))


def shares(_root: Path) -> str:
    """Two links of the same latency."""
    sizes = [n / 20 for n in range(81)]
    lines = [(f"{rate:g} GB/s", [(s, share(s, rate)) for s in sizes]) for rate in (395, 55)]
    words = (
        "Share of the bandwidth by the size of a copy. With 395 GB/s it is 50 % at 0.66 MB and "
        "86 % at 4 MB; with 55 GB/s it is 50 % at 0.09 MB and 98 % at 4 MB"
    )
    across = Axis("MB", 4, (0, 1, 2, 3, 4))
    return plot(lines, [], words, across, Axis("% of the bandwidth", 100, (0, 25, 50, 75, 100)))


def breakeven(_root: Path) -> str:
    """The same work on 1, 2 and 4 GPUs."""
    names = {1: "1 GPU", 2: "2 GPUs", 4: "4 GPUs"}
    lines = [(names[g], [(t, divided(t, g)) for t in (0, 60)]) for g in names]
    words = (
        "Time on 1, 2 and 4 GPUs by the time of the work on one GPU. The line of one GPU crosses "
        "that of four at 27 µs and that of two at 40 µs; four are always faster than two"
    )
    across = Axis("µs of work", 60, (0, 10, 20, 27, 40, 60))
    return plot(lines, [], words, across, Axis("µs", 60, (0, 20, 40, 60)))


def pieces(root: Path) -> str:
    """Chapter 9's two limits of a chain, and what the program prints."""
    dots = [dot for dot in printed(root, "09-collectives.md", CHAINS) if dot[0] <= 24]
    counts = range(1, 25)
    lines = [
        ("on the wire", [(k, on_the_wire(k) / 1000) for k in counts]),
        ("the host's calls", [(k, k * 15.9 / 1000) for k in counts]),
    ]
    words = (
        "Time of a chain by the number of pieces. On the wire it falls from 0.51 ms towards 0.17; "
        "the host's calls rise from 0.016 ms by as much for each piece; they meet near 12 pieces"
    )
    across = Axis("pieces", 24, (1, 4, 8, 12, 16, 20, 24))
    return plot(lines, dots, words, across, Axis("ms", 0.6, (0, 0.2, 0.4, 0.6)))


def speed_up_table(root: Path) -> dict[str, Points]:
    """Chapter 15's first table: of each version, on 1, 2, 4 and 8 GPUs."""
    text = (root / "docs/book/15-when-not.md").read_text(encoding="utf-8")
    rows = re.findall(r"^(\w+)((?: +\d+\.\d\d){4})$", text, re.MULTILINE)
    found: dict[str, Points] = {}
    for name, numbers in rows:
        found.setdefault(name, list(zip((1, 2, 4, 8), map(float, numbers.split()), strict=True)))
    return found


def versions(root: Path) -> str:
    found = speed_up_table(root)
    lines = [(name, found[name]) for name in ("host", "copies", "peer", "graph", "ipc")]
    words = (
        "Speed-up of five versions of the stencil on 1 to 8 GPUs of dgx-a100. The graph reaches "
        "5.1 and the processes 5.4; peer is best on four GPUs, copies on four, host on two"
    )
    across = Axis("GPUs", 8, (1, 2, 4, 8))
    return plot(lines, [], words, across, Axis("speed-up", 6, (0, 1, 2, 4, 6)))


def plot(
    lines: Sequence[tuple[str, Points]],
    dots: Points,
    words: str,
    across: Axis,
    up: Axis,
    dotted: str = "the program",
) -> str:
    """Named lines, and dots, whose name is `dotted`."""
    first = min(x for _, points in lines for x, _ in points)

    def place(x: float, y: float) -> tuple[float, float]:
        right = LEFT + (x - first) / (across.last - first) * (WIDTH - LEFT - RIGHT)
        return round(right, 1), round(TOP + (HEIGHT - BELOW - TOP) * (1 - y / up.last), 1)

    parts = [svg.text(LEFT + 4, TOP - 6, up.name)]
    parts += [svg.text(WIDTH - RIGHT, HEIGHT - BELOW + 34, across.name, "end")]
    parts += _axes(place, first, across, up)
    for (_, points), colour in zip(lines, svg.COLOURS, strict=False):
        parts.append(svg.polyline([place(*point) for point in points], colour))
    for x, y in (place(*dot) for dot in dots):
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="currentColor"/>')
    named = [(name, colour) for (name, _), colour in zip(lines, svg.COLOURS, strict=False)]
    parts.append(svg.legend(10, HEIGHT + 10, named))
    if dots:
        x = 10 + sum(36 + 6.6 * len(name) for name, _ in named)
        parts.append(f'<circle cx="{x + 6:g}" cy="{HEIGHT + 15}" r="4" fill="currentColor"/>')
        parts.append(svg.text(x + 18, HEIGHT + 19, dotted))
    return svg.figure(parts, words, WIDTH, HEIGHT + 28)


def _axes(
    place: Callable[[float, float], tuple[float, float]], first: float, across: Axis, up: Axis
) -> list[str]:
    parts = []
    for value in up.ticks:
        (left, y), (right, _) = place(first, value), place(across.last, value)
        parts += [svg.line(left, y, right, y), svg.text(left - 8, y + 4, f"{value:g}", "end")]
    for value in across.ticks:
        x, bottom = place(value, 0)
        parts.append(svg.text(x, bottom + 18, f"{value:g}", "middle"))
    return parts


CHARTS: dict[str, Callable[[Path], str]] = {
    "speed-ups": speed_ups,
    "limits": limits,
    "shares": shares,
    "breakeven": breakeven,
    "pieces": pieces,
    "versions": versions,
}
