# SPDX-License-Identifier: MIT
"""Building blocks of figures: SVG that uses the page's colours and has a text description for
readers who cannot see it."""

from collections.abc import Sequence
from html import escape

COLOURS = ("#4a6fa5", "#c0782f", "#5a8f5a", "#a54a4a", "#8a6fb0")


def text(x: float, y: float, words: str, anchor: str = "start", size: int = 12) -> str:
    where = f'x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}"'
    return f"<text {where}>{escape(words, quote=False)}</text>"


def line(x0: float, y0: float, x1: float, y1: float, opacity: float = 0.2) -> str:
    path = f'd="M{x0:g} {y0:g}L{x1:g} {y1:g}"'
    return f'<path fill="none" stroke="currentColor" stroke-opacity="{opacity:g}" {path}/>'


def polyline(points: Sequence[tuple[float, float]], colour: str, *, dashed: bool = False) -> str:
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<polyline fill="none" stroke="{colour}" stroke-width="2"{dashes} points="{path}"/>'


def box(x: float, y: float, width: float, height: float, colour: str) -> str:
    """A box in a translucent colour, so that text on it keeps the page's contrast."""
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {place} fill="{colour}" fill-opacity="0.3" stroke="{colour}"/>'


def legend(x: float, y: float, entries: Sequence[tuple[str, str]], *, dashed: str = "") -> str:
    """(words, colour), side by side; `dashed` explains a dashed line."""
    parts = []
    for words, colour in entries:
        parts.append(box(x, y, 14, 10, colour))
        parts.append(text(x + 20, y + 9, words))
        x += 36 + 6.6 * len(words)
    if dashed:
        parts.append(polyline([(x, y + 5), (x + 24, y + 5)], "currentColor", dashed=True))
        parts.append(text(x + 30, y + 9, dashed))
    return "".join(parts)


def drawing(parts: Sequence[str], words: str, width: float, height: float) -> str:
    """The whole picture; `words` describe it."""
    size = f'style="--width:{width:g}px" viewBox="0 0 {width:g} {height:g}"'
    head = f'<svg role="img" {size} xmlns="http://www.w3.org/2000/svg">'
    return f"{head}<title>{escape(words, quote=False)}</title>{''.join(parts)}</svg>"


def figure(parts: Sequence[str], words: str, width: float, height: float) -> str:
    """As a figure of the book."""
    return f'<figure class="drawn" markdown="0">{drawing(parts, words, width, height)}</figure>'
