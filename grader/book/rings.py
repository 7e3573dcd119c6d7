# SPDX-License-Identifier: MIT
"""The ring of chapter 10, step by step: after each step, of how many ranks' numbers each chunk on
each rank is the sum. Computed from the sends of `algorithms.ring`, which has the chapter's
numbering."""

from pathlib import Path

from grader.base import svg
from grader.book import algorithms

N = algorithms.RANKS
CELL, LEFT, TOP, BETWEEN = 24, 48, 38, 14
Sums = list[list[int]]
Moved = set[tuple[int, int]]  # (rank, chunk) that a step has changed


def states() -> list[tuple[Sums, Moved]]:
    """After each of the 2 (N - 1) steps."""
    sums, found = [[1] * N for _ in range(N)], []
    sends = algorithms.ring().steps
    for first in range(0, len(sends), N):
        sent = [(rank, int(send.label)) for rank, send in enumerate(sends[first : first + N])]
        values = [sums[rank][chunk] for rank, chunk in sent]
        moved: Moved = set()
        for (rank, chunk), value in zip(sent, values, strict=True):
            to = (rank + 1) % N
            sums[to][chunk] = value if first >= N * (N - 1) else sums[to][chunk] + value
            moved.add((to, chunk))
        found.append(([list(row) for row in sums], moved))
    return found


def chart(_root: Path) -> str:
    parts, wide, high = [], LEFT + N * CELL + BETWEEN, TOP + N * CELL + BETWEEN
    for step, (sums, moved) in enumerate(states()):
        phase = "all-gather" if step >= N - 1 else "reduce-scatter"
        name = f"{phase}, step {step % (N - 1)}"
        x, y = wide * (step % (N - 1)), high * (step // (N - 1))
        parts += _panel(x, y, name, sums, moved)
    bottom = 2 * high
    key = [("changed in this step", svg.COLOURS[1]), ("sum of all ranks", svg.COLOURS[2])]
    parts.append(svg.legend(10, bottom, key))
    words = (
        "The ring of four ranks after each of its six steps, a row for each rank and a column for "
        "each chunk; each cell says of how many ranks' numbers it is the sum. After reduce-scatter "
        "rank r has chunk r of all four, and after all-gather all chunks are sums of four"
    )
    return svg.figure(parts, words, wide * (N - 1), bottom + 16)


def _panel(x: float, y: float, name: str, sums: Sums, moved: Moved) -> list[str]:
    parts = [svg.text(x + 4, y + 14, name)]
    parts += [
        svg.text(x + LEFT + CELL * (chunk + 0.5), y + TOP - 6, str(chunk), "middle", size=10)
        for chunk in range(N)
    ]
    for rank, row in enumerate(sums):
        top = y + TOP + CELL * rank
        parts.append(svg.text(x + LEFT - 6, top + 16, f"rank {rank}", "end", size=11))
        for chunk, of in enumerate(row):
            left = x + LEFT + CELL * chunk
            colour = 1 if (rank, chunk) in moved else 2 if of == N else 0
            parts.append(svg.box(left, top, CELL - 2, CELL - 2, svg.COLOURS[colour]))
            parts.append(svg.text(left + CELL / 2 - 1, top + 15, str(of), "middle", size=11))
    return parts
