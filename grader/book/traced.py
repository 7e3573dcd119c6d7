# SPDX-License-Identifier: MIT
"""Draws the kernels of chapter 14's program from the trace that the chapter shows: its lines are
compared with a run by a test."""

import re
from pathlib import Path

from grader.base import svg
from grader.base.exits import LabError

CHAPTER = "docs/book/14-profiling.md"
KERNEL = re.compile(r"^GPU (\d+) (\w+) +([\d.]+) to +([\d.]+) us$", re.MULTILINE)
WIDTH, LEFT, ROW, BELOW = 500, 60, 26, 30
TICK_US = 10_000


def kernels(root: Path) -> list[tuple[int, float, float]]:
    """(GPU, start, end) of each, in microseconds. LabError: the chapter shows none."""
    text = (root / CHAPTER).read_text(encoding="utf-8")
    found = [(int(gpu), float(start), float(end)) for gpu, _, start, end in KERNEL.findall(text)]
    if not found:
        raise LabError(f"{CHAPTER} shows no kernels of a trace (when.py)")
    return found


def chart(root: Path) -> str:
    found = kernels(root)
    gpus, last = 1 + max(gpu for gpu, _, _ in found), max(end for _, _, end in found)
    scale, height = (WIDTH - LEFT - 20) / last, ROW * gpus
    parts = []
    for gpu in range(gpus):
        parts.append(svg.text(LEFT - 8, ROW * gpu + 18, f"GPU {gpu}", "end"))
        parts.append(svg.line(LEFT, ROW * (gpu + 1), LEFT + scale * last, ROW * (gpu + 1)))
    for us in range(0, int(last) + 1, TICK_US):
        parts.append(svg.text(LEFT + scale * us, height + 18, f"{us // 1000} ms", "middle"))
    half = len(found) // 2
    for number, (gpu, start, end) in enumerate(found):
        colour = svg.COLOURS[0 if number < half else 1]
        x, width = round(LEFT + scale * start, 1), round(scale * (end - start), 1)
        parts.append(svg.box(x, ROW * gpu + 4, width, ROW - 8, colour))
    words = (
        f"The kernels of both ways on {gpus} GPUs. All launched first, they overlap and are over "
        f"after {found[half - 1][2]:g} µs; waiting each time, they take turns until {last:g} µs"
    )
    return svg.figure(parts, words, WIDTH, height + BELOW)
