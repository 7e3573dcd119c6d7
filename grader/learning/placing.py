# SPDX-License-Identifier: MIT
"""Where the parts of a node are drawn: boxes level by level (or where the node's description puts
them), links as straight lines that avoid boxes, and their labels so that none covers another label
or a box."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]

_LEVELS = ("host", "socket", "root", "switch", "GPU", "nvswitch")  # from below
_LEVEL, _STEP, _GAP = 130.0, 124.0, 40.0  # between levels, GPUs, and sockets' groups of GPUs
_FAN = 24.0  # more height for each line that meets others in a box, so that labels have room
_SAMPLES = 16  # pieces of a curve
_BEND = 45.0
_PARTS = [0.5, *(0.5 + sign * 0.02 * k for k in range(2, 21) for sign in (-1, 1))]  # for labels


@dataclass(frozen=True)
class Rectangle:
    x: float  # of its centre
    y: float
    width: float
    height: float

    def overlaps(self, other: "Rectangle", gap: float = 0.0) -> bool:
        apart = abs(self.x - other.x), abs(self.y - other.y)
        return (
            apart[0] < (self.width + other.width) / 2 + gap
            and apart[1] < (self.height + other.height) / 2 + gap
        )

    def has(self, point: Point, gap: float = 0.0) -> bool:
        return (
            abs(self.x - point[0]) < self.width / 2 + gap
            and abs(self.y - point[1]) < self.height / 2 + gap
        )


@dataclass
class Placed:
    boxes: dict[str, Rectangle] = field(default_factory=dict)
    lines: list[list[Point]] = field(default_factory=list)  # from border to border
    labels: list[Rectangle] = field(default_factory=list)


def box_size(text: str) -> tuple[float, float]:
    """Of a box with text of 14 points, in the widest font that a browser may choose."""
    lines = text.split("\\n")
    return max(map(len, lines)) * 8.6 + 20, 17.0 * len(lines) + 16


def label_size(text: str) -> tuple[float, float]:
    """Of a label of 10 points."""
    lines = text.split("\\n")
    return max(map(len, lines)) * 6.4, 12.0 * len(lines)


def place(
    boxes: Mapping[str, str],
    links: Sequence[tuple[str, str, str]],
    rows: Sequence[Sequence[str]],
    given: Mapping[str, Point],
) -> Placed:
    """`boxes`: their texts. `links`: two boxes and a label. `rows`: GPUs of each socket. `given`:
    centres of boxes, of all or of none."""
    centres = given or _centres(boxes, links, rows)
    placed = Placed({name: Rectangle(*centres[name], *box_size(boxes[name])) for name in boxes})
    for a, b, _ in links:
        placed.lines.append(_line(placed.boxes, a, b))
    order = sorted(range(len(links)), key=lambda i: _length(placed.lines[i]))
    points = [_points(line) for line in placed.lines]
    found: dict[int, Rectangle] = {}
    for i in order:  # short lines have the fewest places for a label
        crossing = [point for j, some in enumerate(points) if j != i for point in some]
        taken = [*found.values(), *placed.boxes.values()]
        found[i] = _label(placed.lines[i], label_size(links[i][2]), taken, crossing)
    placed.labels = [found[i] for i in range(len(links))]
    return placed


# ---- boxes ----


def _centres(
    boxes: Iterable[str], links: Sequence[tuple[str, str, str]], rows: Sequence[Sequence[str]]
) -> dict[str, Point]:
    """Each level above is known before: a box stands below the middle of those that it joins."""
    names = list(boxes)
    kinds = {name: name.rstrip("0123456789") for name in names}
    levels = [kind for kind in _LEVELS if kind in kinds.values()]
    across = _gpus_across(names, rows)
    for kind in ("nvswitch", "switch", "root", "socket", "host"):
        for name in (name for name in names if kinds[name] == kind):
            near = [a if b == name else b for a, b, _ in links if name in (a, b)]
            near = [other for other in near if kinds[other] != kind]
            known = [across[other] for other in near if other in across] or [0.0]
            if kind == "host":  # below its socket
                known = [across.get("socket0", 0.0)]
            across[name] = sum(known) / len(known)
    heights = {kind: _LEVEL * level for level, kind in enumerate(levels)}
    gpus = sum(kind == "GPU" for kind in kinds.values())
    meet = 0 if "switch" in levels else max([0, *map(len, rows)])  # in a socket
    heights["GPU"] = heights.get("GPU", 0.0) + _FAN * meet
    if "nvswitch" in heights:  # all GPUs' lines meet there
        heights["nvswitch"] += _FAN * (meet + gpus)
    return {name: (across[name], heights[kinds[name]]) for name in names}


def _gpus_across(names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, float]:
    across: dict[str, float] = {}
    x = 0.0
    for row in rows:
        for name in row:
            across[name] = x
            x += _STEP
        x += _GAP
    for name in names:
        if name.startswith("GPU") and name not in across:
            across[name] = x
            x += _STEP
    return across


# ---- lines ----


def _line(boxes: Mapping[str, Rectangle], a: str, b: str) -> list[Point]:
    """A straight line, or where that would cross a box the flattest curve that crosses none."""
    begin, end = boxes[a], boxes[b]
    others = [box for name, box in boxes.items() if name not in (a, b)]
    for bend in (0.0, *(sign * _BEND * k for k in range(1, 9) for sign in (1, -1))):
        points = _curve((begin.x, begin.y), (end.x, end.y), bend)
        if not any(box.has(point, 3) for point in points for box in others):
            break
    outside = [p for p in points if not begin.has(p) and not end.has(p)]
    if not outside:
        return [points[0], points[-1]]
    first, last = points.index(outside[0]), points.index(outside[-1])
    head = _border(begin, points[first - 1], points[first])
    tail = _border(end, points[last + 1], points[last])
    if bend == 0:
        return [head, tail]
    return [head, *points[first : last + 1], tail]


def _curve(begin: Point, end: Point, bend: float) -> list[Point]:
    """Points of a quadratic curve whose middle is `bend` beside that of the straight line."""
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    length = math.hypot(dx, dy) or 1.0
    middle = (begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2
    control = middle[0] - 2 * bend * dy / length, middle[1] + 2 * bend * dx / length
    count = max(_SAMPLES, int(length / 8))
    points = []
    for i in range(count + 1):
        t = i / count
        weights = (1 - t) ** 2, 2 * t * (1 - t), t**2
        points.append(
            (
                weights[0] * begin[0] + weights[1] * control[0] + weights[2] * end[0],
                weights[0] * begin[1] + weights[1] * control[1] + weights[2] * end[1],
            )
        )
    return points


def _border(box: Rectangle, inside: Point, outside: Point) -> Point:
    """Where the piece between these points leaves the box."""
    for _ in range(20):
        middle = (inside[0] + outside[0]) / 2, (inside[1] + outside[1]) / 2
        if box.has(middle):
            inside = middle
        else:
            outside = middle
    return outside


def _length(line: Sequence[Point]) -> float:
    return sum(math.dist(a, b) for a, b in itertools.pairwise(line))


def along(line: Sequence[Point], part: float) -> Point:
    """The point after this part (0 to 1) of a line."""
    left = part * _length(line)
    for a, b in itertools.pairwise(line):
        step = math.dist(a, b)
        if left <= step and step > 0:
            return a[0] + (b[0] - a[0]) * left / step, a[1] + (b[1] - a[1]) * left / step
        left -= step
    return line[-1]


# ---- labels ----


def _label(
    line: Sequence[Point],
    size: tuple[float, float],
    taken: Sequence[Rectangle],
    crossing: Sequence[Point],
) -> Rectangle:
    """Beside its line, where it covers nothing that is `taken` and the fewest points of others."""
    best, least = Rectangle(0, 0, *size), (math.inf, math.inf)
    for part in _PARTS:
        for where in _beside(line, part, size):
            covered = sum(where.overlaps(other, 2) for other in taken)
            crossed = sum(where.has(point, 1) for point in crossing)
            if (covered, crossed) < least:
                best, least = where, (covered, crossed)
            if least == (0, 0):
                return best
    return best


def _beside(line: Sequence[Point], part: float, size: tuple[float, float]) -> list[Rectangle]:
    """Right of the line, left, above, below it."""
    x, y = along(line, part)
    ahead, behind = along(line, min(1, part + 0.02)), along(line, max(0, part - 0.02))
    dx, dy = ahead[0] - behind[0], ahead[1] - behind[1]
    length = math.hypot(dx, dy) or 1.0
    normal = abs(dy) / length, abs(dx) / length
    away = size[0] / 2 * normal[0] + size[1] / 2 * normal[1] + 4  # from the line to the centre
    slope = 1 if dx * dy < 0 else -1  # the side on which right is above
    sides = ((1, slope), (-1, -slope))
    return [
        Rectangle(x + side[0] * away * normal[0], y + side[1] * away * normal[1], *size)
        for side in sides
    ]


def _points(line: Sequence[Point]) -> list[Point]:
    """About one in five units of length."""
    count = max(2, int(_length(line) / 5))
    return [along(line, i / count) for i in range(count + 1)]
