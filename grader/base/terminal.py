# SPDX-License-Identifier: MIT
"""Text that fits a terminal: lines that are too long are folded; Markdown is rendered, by the
package rich where there is colour and `./lab start` could install it."""

import importlib.util
import io
import re
import shutil
import sys
import textwrap

from grader.base.looks import Looks, looks

_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_WIDEST = 100
_COLOUR = re.compile(r"\033\[[\d;]*m")
_LABEL = re.compile(r" *(?:\S+ {2,})?")  # "  what   ", "      read   ": text is continued below


def width() -> int:
    return min(shutil.get_terminal_size().columns, _WIDEST)


def columns() -> int:
    """Of the terminal that reads standard output; 0 if none does."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def fold(text: str, at: int = 0, hang: int = 0) -> str:
    """Folds the lines of a text that are longer than the terminal (or `at`), between words.
    Continuations are indented as far as `hang`, or else as the line's text is behind its label. Off
    a terminal, and for a screen reader, lines stay whole."""
    most = at or (0 if looks().plain else columns())
    if not most:
        return text
    return "\n".join(_folded(line, most, hang) for line in text.split("\n"))


def _folded(line: str, most: int, hang: int) -> str:
    label = _LABEL.match(line)
    indent = hang or (label.end() if label else 0)
    indent = indent if indent < most // 2 else 4
    lines, now = [], ""
    for word in re.findall(r"\s*\S+", line):
        if now.strip() and len(_COLOUR.sub("", now + word)) > most:
            lines.append(now)
            now, word = " " * indent, word.lstrip()
        now += word
    return "\n".join([*lines, now])


def show(markdown: str, looks: Looks, columns: int = 0) -> str:
    """Without blank lines at the ends. Tables, lists and code keep their lines."""
    if looks.color and importlib.util.find_spec("rich") is not None:
        return _by_rich(markdown, columns or width())
    shown: list[str] = []
    for part in re.split(r"(^```.*?^```$)", markdown, flags=re.M | re.S):
        shown += _code(part) if part.startswith("```") else _prose(part, looks, columns or width())
    text = "\n".join(shown)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _by_rich(markdown: str, columns: int) -> str:
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(file=io.StringIO(), width=columns, force_terminal=True)
    with console.capture() as caught:
        console.print(Markdown(markdown, code_theme="ansi_dark", hyperlinks=False))
    return "\n".join(line.rstrip() for line in caught.get().strip("\n").splitlines())


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
