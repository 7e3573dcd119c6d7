# SPDX-License-Identifier: MIT
"""grader.base.looks and grader.base.terminal: with colour, without, and for a screen reader."""

import io
import os
import unittest
from unittest import mock

from grader.base.looks import Looks, choose
from grader.base.terminal import show


class Terminal(io.TextIOWrapper):
    """A stream with an encoding that claims to be a terminal."""

    def __init__(self, encoding: str = "utf-8", terminal: bool = True) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


class Choice(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(choose)

    def chosen(self, stream: Terminal, plain: bool = False, **environment: str) -> Looks:
        with mock.patch.dict(os.environ, {"TERM": "xterm", **environment}):
            for name in ("NO_COLOR", "PEERLAB_PLAIN"):
                if name not in environment:
                    os.environ.pop(name, None)
            return choose(plain, stream)

    def test_colour_on_a_terminal_only(self) -> None:
        self.assertEqual(self.chosen(Terminal()), Looks(color=True))
        self.assertEqual(self.chosen(Terminal(terminal=False)), Looks())
        self.assertEqual(self.chosen(Terminal(), NO_COLOR="1"), Looks())
        self.assertEqual(self.chosen(Terminal(), NO_COLOR=""), Looks(color=True))

    def test_plain_when_asked_or_needed(self) -> None:
        plain = Looks(plain=True)
        self.assertEqual(self.chosen(Terminal(), plain=True), plain)
        self.assertEqual(self.chosen(Terminal(), PEERLAB_PLAIN="1"), plain)
        self.assertEqual(self.chosen(Terminal(), TERM="dumb"), plain)
        self.assertEqual(self.chosen(Terminal("ascii")), plain)
        self.assertEqual(self.chosen(Terminal("latin-1")), plain)

    def test_a_character_that_cannot_be_shown_ends_nothing(self) -> None:
        stream = Terminal("ascii")
        self.chosen(stream)
        stream.write("○ ok")
        stream.flush()
        self.assertEqual(stream.buffer.getvalue(), b"? ok")  # type: ignore[attr-defined]


class Markdown(unittest.TestCase):
    TEXT = "# A `b`: c\n\nLong **words** of [a page](x.md).\n\n```c\nint  a;\n```\n\n| a | b |\n"

    def test_plain(self) -> None:
        said = show(self.TEXT, Looks(), columns=20)
        prose = "A b: c\n\nLong words of a page\n(x.md)."
        self.assertEqual(said, f"{prose}\n\n    int  a;\n\n| a | b |")

    def test_headings_stand_out_where_there_is_colour(self) -> None:
        self.assertTrue(show("## A\n", Looks(color=True)).startswith("\033[1mA\033[0m"))
