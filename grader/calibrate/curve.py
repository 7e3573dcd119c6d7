# SPDX-License-Identifier: MIT
"""Fits what a copy takes, by its size, to the forms that a node description has: a latency and a
rate; a first part at another rate (`ramp`); sizes that go at other rates (`bands`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

Points = Sequence[tuple[int, float]]
GOOD = 0.02  # a form is good enough if it is nowhere further off
BETTER = 0.8  # and a longer one must be so much better than a shorter one
LARGE, WEIGHT = 16 << 20, 3.0  # from so many bytes on a size counts so much: the rate is theirs
SLOWEST = 1e-9  # us a byte: no rate is above 1e6 GB/s


@dataclass
class Curve:
    latency_us: float
    gbs: float
    ramp: tuple[int, float] | None = None  # bytes, GB/s
    bands: list[tuple[int, float]] = field(default_factory=list)
    worst: float = 0.0

    def us(self, size: float) -> float:
        for most, gbs in self.bands:
            if size <= most:
                return self.latency_us + size / gbs * 1e-3
        first = min(size, self.ramp[0]) if self.ramp else 0
        slow = first / self.ramp[1] if self.ramp else 0
        return self.latency_us + (slow + (size - first) / self.gbs) * 1e-3

    def overhead(self, size: float) -> float:
        """What such a copy takes beyond its bytes at the full rate."""
        return self.us(size) - size / self.gbs * 1e-3

    def described(self) -> dict[str, object]:
        told: dict[str, object] = {"latency_us": rounded(self.latency_us), "gbs": rounded(self.gbs)}
        if self.ramp:
            told["ramp"] = {"bytes": self.ramp[0], "gbs": rounded(self.ramp[1])}
        if self.bands:
            told["bands"] = [{"up_to_bytes": n, "gbs": rounded(gbs)} for n, gbs in self.bands]
        return told


def rounded(value: float) -> float:
    """Four digits; what is below a nanosecond counts as nothing."""
    return float(f"{value:.4g}") if value > 5e-4 else 0.0


def solve(rows: list[list[float]], right: list[float]) -> list[float]:
    """Least squares without negative results: what would be negative is left out."""
    wanted = list(range(len(rows[0])))
    while wanted:
        found = _normal([[row[i] for i in wanted] for row in rows], right)
        least = min(range(len(found)), key=found.__getitem__)
        if found[least] >= 0:
            return [found[wanted.index(i)] if i in wanted else 0.0 for i in range(len(rows[0]))]
        del wanted[least]
    return [0.0] * len(rows[0])


def _normal(rows: list[list[float]], right: list[float]) -> list[float]:
    n = len(rows[0])
    scale = [max(abs(row[i]) for row in rows) or 1.0 for i in range(n)]
    a = [[sum(r[i] * r[j] for r in rows) / scale[i] / scale[j] for j in range(n)] for i in range(n)]
    b = [sum(r[i] * y for r, y in zip(rows, right, strict=True)) / scale[i] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(a[k][i]))
        a[i], a[pivot], b[i], b[pivot] = a[pivot], a[i], b[pivot], b[i]
        if abs(a[i][i]) < 1e-14:
            a[i][i] = 1e-14
        for k in range(i + 1, n):
            f = a[k][i] / a[i][i]
            b[k] -= f * b[i]
            a[k] = [x - f * y for x, y in zip(a[k], a[i], strict=True)]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (b[i] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return [value / s for value, s in zip(x, scale, strict=True)]


def _gbs(us_a_byte: float) -> float:
    return 1e-3 / max(us_a_byte, SLOWEST)


def _fit(
    points: Points, split: Callable[[int], list[float]], made: Callable[[list[float]], Curve]
) -> Curve:
    weights = [WEIGHT if size >= LARGE else 1.0 for size, _ in points]
    rows = [
        [w / us, *(w * part / us for part in split(size))]
        for (size, us), w in zip(points, weights, strict=True)
    ]
    curve = made(solve(rows, weights))
    curve.worst = max(abs(curve.us(size) / us - 1) for size, us in points)
    return curve


def _plain(points: Points) -> Curve:
    return _fit(points, lambda n: [n], lambda x: Curve(x[0], _gbs(x[1])))


def _ramps(points: Points) -> list[Curve]:
    def one(most: int) -> Curve:
        return _fit(
            points,
            lambda n: [min(n, most), max(n - most, 0)],
            lambda x: Curve(x[0], _gbs(x[2]), ramp=(most, _gbs(x[1]))),
        )

    return [one(size) for size, _ in points[1:-2] if size >= 4096]


def _bands(points: Points, many: int, edges: Sequence[int]) -> list[Curve]:
    """`edges`: sizes between two that were measured, where a band is known to end."""

    def one(ends: tuple[int, ...]) -> Curve:
        def part(n: int) -> list[float]:
            at = sum(n > end for end in ends)
            return [n if i == at else 0 for i in range(len(ends) + 1)]

        return _fit(
            points,
            part,
            lambda x: Curve(
                x[0], _gbs(x[-1]), bands=[(end, _gbs(x[1 + i])) for i, end in enumerate(ends)]
            ),
        )

    ends = []
    for (size, _), (following, _) in pairwise(points[1:]):
        known = [edge for edge in edges if size <= edge < following]
        ends.append(known[0] if known else size)
    return [one(some) for some in combinations(ends[1:], many)]


def fit(points: Points, edges: Sequence[int] = (), *, ramp: bool = True) -> Curve:
    """The shortest form that is good, else the best of the longer ones."""
    best = _plain(points)
    if len(points) < 6:
        return best
    ramps = _ramps(points) if ramp else []
    for longer in (ramps + _bands(points, 1, edges), _bands(points, 2, edges)):
        if best.worst <= GOOD:
            break
        least = min(longer, key=lambda curve: curve.worst)
        best = least if least.worst < BETTER * best.worst else best
    return best
