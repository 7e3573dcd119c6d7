# SPDX-License-Identifier: MIT
"""Does the form of the model predict? fit.py RECORDED [--one-rate]: the copy curves of 4 H200s are
fitted on every other size and scored on the sizes left out.

The form is the node's (docs/virtual-time.md): a fixed time; the first MiB at one rate and what
follows at another; or one rate for sizes up to a limit and another beyond it (a cache; pageable
memory that travels with the command, or needs more staging than there is). The limits are the
node description's; everything else (three numbers a curve, six for the two loops of pageable
memory) is found here by least squares of the relative error. No time of a size left out is looked
at. --one-rate: a simpler form, a fixed time and one rate for all sizes, which does not do.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from calibration import recorded_alone, recorded_timing

NEAR, FAR, ENOUGH = 0.10, 0.25, 0.90
MIB = 1 << 20
Point = tuple[str, float, float]  # of which loop, bytes, microseconds
Form = Callable[[str, float], list[float]]


def ramp(_: str, size: float) -> list[float]:
    """Fixed time, the first MiB, the rest."""
    return [1.0, min(size, MIB), max(size - MIB, 0)]


def cached(_: str, size: float) -> list[float]:
    """Fixed time, copies that fit the L2 cache, larger ones."""
    small = size <= 30 * MIB
    return [1.0, size if small else 0.0, 0.0 if small else size]


def pageable(loop: str, size: float) -> list[float]:
    """What travels with the command, back to back and alone; up to 64 MiB; more."""
    alone, inline, large = loop == "alone", size <= 65536, size > 64 * MIB
    row = [0.0] * 6
    row[alone] = 1.0
    row[2 + alone if inline else 5 if large else 4] = size
    return row


def one_rate(loop: str, size: float) -> list[float]:
    """Fixed time, of each loop its own, and size."""
    return [float(loop == "copy"), float(loop == "alone"), size]


@dataclass(frozen=True)
class Curve:
    name: str
    form: Form
    points: list[list[Point]]  # by loop, by size


def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gauss' elimination; what nothing tells about becomes 0."""
    n = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        if abs(rows[k][k]) < 1e-30:
            continue
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n] / row[k] if abs(row[k]) > 1e-30 else 0.0 for k, row in enumerate(rows)]


def fit(form: Form, points: list[Point]) -> list[float]:
    """The numbers of the form with the least squares of (modelled / recorded - 1)."""
    rows = [[x / us for x in form(loop, size)] for loop, size, us in points]
    columns = range(len(rows[0]))
    square = [[sum(row[i] * row[j] for row in rows) for j in columns] for i in columns]
    return solve(square, [sum(row[i] for row in rows) for i in columns])


def curves(folder: Path) -> list[Curve]:
    """Pageable copies to the GPU were timed in two loops that share their rates; other curves have
    numbers of their own."""
    rows = recorded_timing((folder / "timing.txt").read_text())
    rows |= recorded_alone((folder / "pageable.txt").read_text())
    loops: dict[str, list[Point]] = {}
    for name, us in rows.items():
        loop, _, rest = name.partition(".")
        if loop in ("copy", "alone"):
            path, _, size = rest.partition(".")
            loops.setdefault(f"{loop}.{path}", []).append((loop, float(size), us))
    both = [sorted(loops.pop(f"{loop}.h2d_pageable")) for loop in ("copy", "alone")]
    made = [Curve("h2d_pageable", pageable, both)]
    for name, points in sorted(loops.items()):
        made.append(Curve(name, cached if name == "copy.local" else ramp, [sorted(points)]))
    return made


def held_out(curve: Curve) -> list[tuple[str, float]]:
    """("copy.peer.1024", error) for each size that the fit did not see."""
    numbers = fit(curve.form, [point for loop in curve.points for point in loop[::2]])
    found = []
    for loop in curve.points:
        for kind, size, us in loop[1::2]:
            modelled = sum(a * x for a, x in zip(numbers, curve.form(kind, size), strict=True))
            found.append((f"{kind} {curve.name.split('.')[-1]} {size:.0f}", modelled / us - 1))
    return found


def main() -> int:
    errors = []
    for curve in curves(Path(sys.argv[1])):
        simple = sys.argv[2:] == ["--one-rate"]
        errors += held_out(replace(curve, form=one_rate) if simple else curve)
    errors.sort(key=lambda pair: -abs(pair[1]))
    near = sum(abs(error) <= NEAR for _, error in errors)
    for name, error in errors[:5]:
        print(f"{name:<32}{error:>+8.1%}")
    print(
        f"{near} of {len(errors)} sizes that were left out within {NEAR:.0%} "
        f"({near / len(errors):.1%})"
    )
    return 0 if near >= ENOUGH * len(errors) and abs(errors[0][1]) <= FAR else 1


if __name__ == "__main__":
    sys.exit(main())
