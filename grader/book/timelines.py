# SPDX-License-Identifier: MIT
"""Timelines of concurrent activity. A schedule is computed, not drawn by hand: steps in the order
in which they are issued, each occupying its resources (a port, a GPU) from its start to its end."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.base import svg

WIDTH, LEFT, ROW, GAP = 500, 90, 24, 34  # pixels; a phone shows 0.7 of a figure's size


@dataclass(frozen=True)
class Step:
    """A step of duration `length`. It starts when everything in `uses` is free (its `row`, too) and
    the steps `after` (numbers in the list) have ended."""

    row: str
    length: float
    label: str
    colour: int = 0
    uses: tuple[str, ...] = ()
    after: tuple[int, ...] = ()


@dataclass(frozen=True)
class Bar:
    step: Step
    start: float
    end: float


@dataclass
class Timeline:
    """Named steps; `rows` from top to bottom."""

    title: str
    rows: Sequence[str]
    steps: list[Step] = field(default_factory=list)

    def add(self, row: str, length: float, label: str = "", **more: object) -> int:
        """Appends a step; returns its number."""
        self.steps.append(Step(row, length, label, **more))  # type: ignore[arg-type]
        return len(self.steps) - 1

    def bars(self) -> list[Bar]:
        free: dict[str, float] = {}
        made: list[Bar] = []
        for step in self.steps:
            held = (step.row, *step.uses)
            start = max(
                [0.0, *(free.get(h, 0.0) for h in held), *(made[n].end for n in step.after)]
            )
            made.append(Bar(step, start, start + step.length))
            free.update(dict.fromkeys(held, start + step.length))
        return made

    def length(self) -> float:
        return max(bar.end for bar in self.bars())


def chart(
    timelines: Sequence[Timeline], unit: str, words: str, *key: tuple[str, int], width: int = WIDTH
) -> str:
    """One below the other, on one scale. `key`: the meaning of colours that bars do not label."""
    longest = max(timeline.length() for timeline in timelines)
    scale = (width - LEFT - 20) / longest
    parts: list[str] = []
    top = 0.0
    for timeline in timelines:
        parts.append(_drawn(timeline, top, scale, unit))
        top += ROW * len(timeline.rows) + GAP
    if key:
        parts.append(svg.legend(LEFT, top, [(what, svg.COLOURS[colour]) for what, colour in key]))
        top += 16
    return svg.figure(parts, words, width, top)


def _drawn(timeline: Timeline, top: float, scale: float, unit: str) -> str:
    length = timeline.length()
    parts = [svg.text(LEFT, top + 14, f"{timeline.title}: {length:g} {unit}", size=12)]
    row_at = {name: top + 20 + ROW * number for number, name in enumerate(timeline.rows)}
    for name, y in row_at.items():
        parts.append(svg.text(LEFT - 8, y + 16, name, "end"))
        parts.append(svg.line(LEFT, y + ROW - 2, LEFT + scale * length, y + ROW - 2))
    for bar in timeline.bars():
        x, width, y = LEFT + scale * bar.start, scale * bar.step.length, row_at[bar.step.row]
        colour = svg.COLOURS[bar.step.colour]
        parts.append(svg.box(round(x, 1), y, round(width, 1), ROW - 4, colour))
        # In bars narrower than 10, the digits of neighbours would read as one number.
        if max(10, 6.5 * len(bar.step.label)) <= width:
            middle = round(x + width / 2, 1)
            parts.append(svg.text(middle, y + 15, bar.step.label, "middle", size=11))
    return "".join(parts)
