# SPDX-License-Identifier: MIT
"""Charts in pages, drawn from data of the repository while the site is built: a line
`<!-- chart: NAME -->` becomes one. They take on the page's colours, as figures do."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.exits import LabError

DIRECTIVE = re.compile(r"^<!-- chart: (\S+) -->$", re.MULTILINE)
RECORDED = "tests/recorded/hgx-h200-4/timing.txt"
WIDTH, HEIGHT, LEFT, BELOW, RIGHT = 640, 320, 60, 40, 170
COLOURS = ("#4a6fa5", "#c0782f", "#5a8f5a", "#a54a4a")
ROW = re.compile(r"^ *(\d+)((?: +[\d.]+){6}) +\|", re.MULTILINE)
COLUMNS = {"peer access": 5, "pinned host": 0, "pageable host": 2, "no peer access": 4}


@dataclass(frozen=True)
class Line:
    """Points of a log-log chart; what a model says is dashed."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str
    dashed: bool = False


def insert(root: Path, page: str, text: str) -> str:
    """The page with its charts. LabError: there is none of that name."""

    def one(match: re.Match[str]) -> str:
        if match[1] not in CHARTS:
            raise LabError(f"{page} asks for the chart {match[1]}; there are {sorted(CHARTS)}")
        return CHARTS[match[1]](root)

    return DIRECTIVE.sub(one, text)


# ---- what was measured ----


def recorded(text: str, column: int) -> list[tuple[float, float]]:
    """(bytes, GB/s) of one way of copying, from microseconds by size."""
    found = [(int(size), float(times.split()[column])) for size, times in ROW.findall(text)]
    return [(size, size / us / 1000) for size, us in found if size >= 1024]


def modelled(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """latency + bytes / bandwidth, with the first point's latency and the last one's bandwidth."""
    (least, slow), (_, rate) = points[0], points[-1]
    latency_us = least / slow / 1000
    sizes = [2.0**k for k in range(10, 29)]
    return [(size, size / (latency_us + size / rate / 1000) / 1000) for size in sizes]


def _bandwidth(root: Path) -> str:
    text = (root / RECORDED).read_text(encoding="utf-8")
    lines = []
    for (name, column), colour in zip(COLUMNS.items(), COLOURS, strict=True):
        points = recorded(text, column)
        if len(points) < 2:
            raise LabError(f"{RECORDED} has no table of copies by size")
        lines += [Line(name, points, colour), Line("", modelled(points), colour, dashed=True)]
    words = (
        "Bandwidth over size on four H200s. Lines: measured. Dashed: latency plus bytes over "
        "bandwidth. Peer copies reach 395 GB/s, half of it near 1 MB; without peer access 38"
    )
    return _plot(lines, words, "bytes", "GB/s")


# ---- drawing ----


def _plot(lines: Sequence[Line], words: str, across: str, up: str) -> str:
    """A log-log chart."""
    xs = [math.log10(x) for line in lines for x, _ in line.points]
    ys = [math.log10(y) for line in lines for _, y in line.points]
    low, high = math.floor(min(ys)), math.ceil(max(ys))

    def place(x: float, y: float) -> tuple[float, float]:
        right = LEFT + (math.log10(x) - min(xs)) / (max(xs) - min(xs)) * (WIDTH - LEFT - RIGHT)
        down = (HEIGHT - BELOW) * (1 - (math.log10(y) - low) / (high - low)) + 10
        return round(right, 1), round(down, 1)

    parts = [_axes(place, 10 ** min(xs), 10 ** max(xs), low, high, across, up)]
    parts += [_line(line, [place(*point) for point in line.points]) for line in lines]
    parts += [_label(i, line) for i, line in enumerate(e for e in lines if e.name)]
    return _figure(parts, words)


Place = Callable[[float, float], tuple[float, float]]


def _axes(place: Place, x0: float, x1: float, low: int, high: int, across: str, up: str) -> str:
    parts = []
    for decade in range(low, high + 1):
        (left, y), (right, _) = place(x0, 10.0**decade), place(x1, 10.0**decade)
        parts.append(_segment(left, y, right, y))
        parts.append(_text(left - 8, y + 4, f"{10.0**decade:g}", "end"))
    for power in range(10, 29, 6):
        x, bottom = place(2.0**power, 10.0**low)
        size = 2**power
        name = f"{size >> 20} MB" if size >> 20 else f"{size >> 10} KB"
        parts.append(_text(x, bottom + 18, name, "middle"))
    parts.append(_text(LEFT + 4, 24, up, "start"))
    _, bottom = place(x0, 10.0**low)
    parts.append(_text(WIDTH - RIGHT, bottom + 34, across, "end"))
    return "".join(parts)


def _line(line: Line, points: Sequence[tuple[float, float]]) -> str:
    path = " ".join(f"{x},{y}" for x, y in points)
    dashes = ' stroke-dasharray="5 4" stroke-opacity="0.7"' if line.dashed else ""
    return (
        f'<polyline fill="none" stroke="{line.colour}" stroke-width="2"{dashes} points="{path}"/>'
    )


def _label(number: int, line: Line) -> str:
    x, y = WIDTH - RIGHT + 20, 24 + 20 * number
    mark = f'<rect x="{x}" y="{y - 9}" width="14" height="4" fill="{line.colour}"/>'
    return mark + _text(x + 20, y - 3, line.name, "start")


def _segment(x0: float, y0: float, x1: float, y1: float) -> str:
    return (
        f'<path fill="none" stroke="currentColor" stroke-opacity="0.2" d="M{x0} {y0}L{x1} {y1}"/>'
    )


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" font-size="12" text-anchor="{anchor}">{words}</text>'


def _figure(parts: Sequence[str], words: str) -> str:
    head = f'<svg role="img" style="max-width:{WIDTH}px" viewBox="0 0 {WIDTH} {HEIGHT + 10}"'
    body = f'{head} xmlns="http://www.w3.org/2000/svg"><title>{words}</title>{"".join(parts)}</svg>'
    return f'<figure class="drawn" markdown="0">{body}</figure>'


CHARTS: dict[str, Callable[[Path], str]] = {"bandwidth": _bandwidth}
