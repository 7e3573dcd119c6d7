# SPDX-License-Identifier: MIT
"""The charts of the class report, each as wide as a telephone."""

from collections.abc import Sequence

from grader.base import svg
from grader.grade.page import Picture
from grader.grade.tasks import Task

WIDTH = 340
_ROW, _LEFT, _TOP = 24, 66, 26
_LATER = 3  # this attempt and all after it are one
_BINS = 10
_GAPS = ((1 / 6, "10 min"), (1, "1 h"), (6, "6 h"), (24, "1 day"), (72, "3 days"))


def marks(values: Sequence[float], possible: int) -> Picture:
    width = possible / _BINS if possible else 1
    counts = [0] * _BINS
    for mark in values:
        counts[max(0, min(int(mark / width), _BINS - 1))] += 1
    names = [f"{at * width:g}" for at in range(_BINS)]
    names[-1] += f"-{possible:g}"
    return _bars(names, counts, "How many marks fall into each tenth of the points")


def gaps(hours: Sequence[float]) -> Picture:
    """How long it took from one file to the next."""
    counts = [0] * (len(_GAPS) + 1)
    for one in hours:
        counts[sum(one >= most for most, _ in _GAPS)] += 1
    names = [f"< {name}" for _, name in _GAPS] + ["more"]
    return _bars(names, counts, f"Time between two files that a student handed in ({len(hours)})")


def solved(tasks: Sequence[Task]) -> Picture:
    """A bar a task: of the students whose file was run, who solved it and when."""
    shades = [svg.COLOURS[2], svg.COLOURS[0], svg.COLOURS[4], svg.COLOURS[3], "#888888"]
    names = ["1st", "2nd", "later", "not solved", "not written"]
    parts = [_legend(names, shades)]
    for at, task in enumerate(tasks):
        y = _TOP + at * _ROW
        parts.append(svg.text(_LEFT - 6, y + 14, task.name if task.todo else "whole", "end"))
        x = float(_LEFT)
        for count, colour in zip(_shares(task), shades, strict=True):
            width = (WIDTH - _LEFT - 2) * count / max(1, task.students)
            if count:
                parts.append(svg.box(x, y, width, _ROW - 6, colour))
            if width > 14:
                parts.append(svg.text(x + width / 2, y + 13, str(count), "middle", 11))
            x += width
    words = "Who solved each task, by the attempt that was the first to do so"
    return Picture(svg.drawing(parts, words, WIDTH, _TOP + _ROW * len(tasks)), words)


def _shares(task: Task) -> list[int]:
    """At the first attempt, the second, later, not solved, not written: all students of a task. Of
    whom no attempt is known, the one that is there counts as the first."""
    known = sum(task.first.values())
    first = task.first[1] + task.solved - known
    second = task.first[2]
    later = known - task.first[1] - second
    unwritten = min(task.unwritten, task.students - task.solved)
    return [first, second, later, task.students - task.solved - unwritten, unwritten]


def _legend(names: Sequence[str], shades: Sequence[str]) -> str:
    parts, x = [], 2.0
    for name, shade in zip(names, shades, strict=True):
        parts.append(svg.box(x, 4, 9, 9, shade))
        parts.append(svg.text(x + 13, 13, name, size=11))
        x += 24 + 5.6 * len(name)
    return "".join(parts)


def _bars(names: Sequence[str], counts: Sequence[int], words: str) -> Picture:
    height, step = 110, WIDTH / len(names)
    tallest = max(1, *counts)
    parts = [svg.line(0, height + 18, WIDTH, height + 18, 0.6)]
    for at, (name, count) in enumerate(zip(names, counts, strict=True)):
        tall = height * count / tallest
        middle = (at + 0.5) * step
        parts.append(svg.box(at * step + 3, height + 18 - tall, step - 6, tall, svg.COLOURS[0]))
        if count:
            parts.append(svg.text(middle, height + 13 - tall, str(count), "middle", 11))
        parts.append(svg.text(middle, height + 32, name, "middle", 10))
    return Picture(svg.drawing(parts, words, WIDTH, height + 38), words)
