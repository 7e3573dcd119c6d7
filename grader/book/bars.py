# SPDX-License-Identifier: MIT
"""Bars, one below the other, on one scale. Each may have parts in several colours. Their lengths
are read from the chapter (`shown`, `said`), so that they cannot differ from what it prints, or
computed by the formula that it derives: `outputs.py` has the chapters' charts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base import svg
from grader.base.exits import LabError

WIDTH, ROW, LETTER = 470, 26, 7.0  # a phone shows 0.7 of a figure's size
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Bar:
    """Parts are (value, number of the colour); `note` stands behind the bar."""

    name: str
    parts: Sequence[tuple[float, int]]
    note: str

    def length(self) -> float:
        return sum(value for value, _ in self.parts)


def shown(root: Path, chapter: str, pattern: str) -> list[Numbers]:
    """The numbers of each line of a chapter that looks like that. LabError: there is none."""
    text = (root / "docs/book" / chapter).read_text(encoding="utf-8")
    return _numbers(chapter, pattern, list(re.finditer(pattern, text, re.MULTILINE)))


def said(root: Path, chapter: str, pattern: str) -> Numbers:
    """The numbers of a chapter's sentence, wherever its lines break. LabError: there is none."""
    text = " ".join((root / "docs/book" / chapter).read_text(encoding="utf-8").split())
    return _numbers(chapter, pattern, list(re.finditer(pattern, text)))[0]


def found(place: str, pattern: str, text: str) -> str:
    """What a group of the pattern matches first in a file's text. LabError: nothing."""
    first = re.search(pattern, text, re.MULTILINE)
    if first is None:
        raise LabError(f"{place} has nothing that looks like {pattern}")
    return first[1]


def _numbers(place: str, pattern: str, matches: Sequence[re.Match[str]]) -> list[Numbers]:
    rows = [tuple(float(number.replace(",", "")) for number in m.groups()) for m in matches]
    if not rows:
        raise LabError(f"{place} has nothing that looks like {pattern}")
    return rows


def chart(
    bars: Sequence[Bar], words: str, *key: tuple[str, int], marks: Sequence[tuple[float, str]] = ()
) -> str:
    """`key`: the meaning of the colours; `marks`: lines across the bars, with their names."""
    left = 14 + LETTER * max(len(bar.name) for bar in bars)
    right = 12 + LETTER * max(len(bar.note) for bar in bars)
    longest = max([bar.length() for bar in bars] + [value for value, _ in marks])
    scale = (WIDTH - left - right) / longest
    parts, top = [], 4.0
    for bar in bars:
        parts.append(_drawn(bar, left, top, scale))
        top += ROW
    for value, name in marks:
        x = round(left + scale * value, 1)
        parts += [svg.line(x, 0, x, top, 0.8), svg.text(x, top + 12, name, "middle", size=11)]
    top += 18 if marks else 4
    if key:
        parts.append(svg.legend(10, top, [(what, svg.COLOURS[colour]) for what, colour in key]))
        top += 16
    return svg.figure(parts, words, WIDTH, top)


def _drawn(bar: Bar, left: float, top: float, scale: float) -> str:
    parts, x = [svg.text(left - 8, top + 15, bar.name, "end")], left
    for value, colour in bar.parts:
        width = scale * value
        parts.append(svg.box(round(x, 1), top, round(width, 1), ROW - 6, svg.COLOURS[colour]))
        x += width
    parts.append(svg.text(round(x + 6, 1), top + 15, bar.note))
    return "".join(parts)
