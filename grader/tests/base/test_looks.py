# SPDX-License-Identifier: MIT
"""grader.base.looks and grader.base.terminal: with colour, without, and for a screen reader."""

import importlib.util
import io
import os
import re
import unittest
from unittest import mock

from grader.base import terminal
from grader.base.looks import Looks, choose
from grader.base.terminal import fold, show
from grader.building.install import own_packages
from grader.course.project import here


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


class Folding(unittest.TestCase):
    def test_text_is_continued_behind_its_label(self) -> None:
        said = fold("  what   one two three four", at=20)
        self.assertEqual(said, "  what   one two\n         three four")
        self.assertEqual(fold("a  b\n\nc", at=20), "a  b\n\nc")
        self.assertEqual(
            fold("\033[32m●\033[0m lab01.a  words", at=16), "\033[32m●\033[0m lab01.a  words"
        )
        self.assertEqual(fold("labs/01-enumerate/enumerate.c:20", at=8).count("\n"), 0)

    def test_off_a_terminal_and_for_a_screen_reader_lines_stay_whole(self) -> None:
        self.assertEqual(fold("word " * 99), "word " * 99)
        with (
            mock.patch.object(terminal, "columns", return_value=20),
            mock.patch("grader.base.looks._chosen", Looks(plain=True)),
        ):
            self.assertEqual(fold("word " * 99), "word " * 99)


class Markdown(unittest.TestCase):
    TEXT = "# A `b`: c\n\nLong **words** of [a page](x.md).\n\n```c\nint  a;\n```\n\n| a | b |\n"

    def test_plain(self) -> None:
        said = show(self.TEXT, Looks(), columns=20)
        prose = "A b: c\n\nLong words of a page\n(x.md)."
        self.assertEqual(said, f"{prose}\n\n    int  a;\n\n| a | b |")

    def test_headings_stand_out_where_there_is_colour(self) -> None:
        with mock.patch("importlib.util.find_spec", return_value=None):  # without rich
            said = show("## A\n", Looks(color=True))
        self.assertTrue(said.startswith("\033[1mA\033[0m"))

    def test_rich_renders_where_it_is_installed(self) -> None:
        own_packages(here())
        if importlib.util.find_spec("rich") is None:
            self.skipTest("the Python package rich is not here")
        said = show(self.TEXT, Looks(color=True), columns=40)
        self.assertIn("\033[", said)
        bare = re.sub(r"\033\[[\d;]*m", "", said)
        self.assertIn("A b: c", bare)
        self.assertLessEqual(max(map(len, bare.splitlines())), 40)
