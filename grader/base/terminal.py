# SPDX-License-Identifier: MIT
"""Renders Markdown on a terminal: headings stand out, paragraphs are wrapped, code is indented."""

import re
import shutil
import textwrap

from grader.base.looks import Looks

_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_WIDEST = 100


def width() -> int:
    return min(shutil.get_terminal_size().columns, _WIDEST)


def show(markdown: str, looks: Looks, columns: int = 0) -> str:
    """Without blank lines at the ends. Tables, lists and code keep their lines."""
    shown: list[str] = []
    for part in re.split(r"(^```.*?^```$)", markdown, flags=re.M | re.S):
        shown += _code(part) if part.startswith("```") else _prose(part, looks, columns or width())
    text = "\n".join(shown)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _code(block: str) -> list[str]:
    return ["", *(f"    {line}".rstrip() for line in block.splitlines()[1:-1]), ""]


def _prose(text: str, looks: Looks, columns: int) -> list[str]:
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        if heading := re.fullmatch(r"(#+) (.+)", paragraph.strip("\n")):
            lines += ["", looks.paint(_inline(heading[2]), "1"), ""]
        elif re.match(r"\s*([|*-]|\d+\.) ?", paragraph):
            lines += [_inline(line) for line in paragraph.strip("\n").splitlines()] + [""]
        elif paragraph.strip():
            lines += [*_wrapped(_inline(paragraph), columns), ""]
    return lines


def _wrapped(text: str, columns: int) -> list[str]:
    """Paths and options are not broken."""
    return textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)


def _inline(text: str) -> str:
    text = _LINK.sub(lambda found: f"{found[1]} ({found[2]})", text)
    return text.replace("**", "").replace("`", "")
