# SPDX-License-Identifier: MIT
"""grader.commands.cli: command lines, output, and exit statuses."""

import contextlib
import io
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from grader.base.exits import ExitStatus, LabError
from grader.building.machine import Machine
from grader.commands import cli
from grader.tests.fake import FakeCheckout

LAB = Path(__file__).resolve().parents[3] / "lab"


class Cli(FakeCheckout):
    def typed(self, *words: str) -> tuple[int, str]:
        """Status and output of `./lab WORDS` in the fake checkout."""
        said = io.StringIO()
        with (
            mock.patch.object(cli, "here", return_value=self.project),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            try:
                status = cli.main(words)
            except SystemExit as end:  # argparse
                status = int(end.code or 0)
        return status, said.getvalue()

    def test_language_alone_offers_what_there_is(self) -> None:
        status, said = self.typed("--language")
        self.assertEqual(status, ExitStatus.USAGE)
        self.assertRegex(said, r"^Languages: en\b.*; or a file of your own")

    def test_sync_then_check_then_reset(self) -> None:
        self.assertEqual(self.typed("sync", "--check")[0], ExitStatus.FAILED)
        self.assertIn("labs/01-tiny/tiny.c: written", self.typed("sync")[1])
        self.assertEqual(self.typed("sync", "--check", "01")[0], ExitStatus.OK)
        self.write("labs/01-tiny/tiny.h", "by hand\n")  # the list of hashes is out of date
        status, said = self.typed("sync", "--check")
        self.assertEqual(status, ExitStatus.FAILED)
        self.assertIn("labs/.generated.json", said)
        self.typed("sync")
        self.assertEqual(self.typed("sync", "--check")[0], ExitStatus.OK)
        self.write("labs/01-tiny/tiny.c", "mine\n")
        status, said = self.typed("sync", "--check")
        self.assertEqual(status, ExitStatus.OK)
        self.assertIn("tiny.c: edited", said)
        self.assertIn("left alone", self.typed("sync")[1])
        self.assertIn("yours is now labs/01-tiny/tiny.c.bak1", self.typed("reset", "1")[1])
        self.assertIn("nothing was edited", self.typed("reset", "1")[1])

    def test_hint(self) -> None:
        status, said = self.typed("hint", "01", "1")
        self.assertEqual(status, ExitStatus.OK)
        self.assertIn("Add.", said)
        self.assertIn("Multiply.", self.typed("hint", "01.1")[1])
        self.assertIn("Add.", self.typed("hint", "01", "1", "1")[1])
        self.assertIn("Shift.", self.typed("hint", "01.1")[1])
        self.assertIn("last hint", self.typed("hint", "01.1")[1])

    def test_statuses_that_need_no_build(self) -> None:
        for words, status in (
            (("hint", "09", "1"), ExitStatus.NO_MATCH),
            (("hint", "01", "7"), ExitStatus.NO_MATCH),
            (("hint", "01", "1", "4"), ExitStatus.NO_MATCH),
            (("hint", "01"), ExitStatus.USAGE),
            (("explain", "nonsense"), ExitStatus.NO_MATCH),
            (("submit", "09"), ExitStatus.NO_MATCH),
            (("submit", "01"), ExitStatus.NO_MATCH),
            (("reset", "09"), ExitStatus.NO_MATCH),
            (("--language", "xx", "list"), ExitStatus.USAGE),
            (("test", "01"), ExitStatus.NOT_CONFIGURED),
            (("status",), ExitStatus.NOT_CONFIGURED),
            (("nonsense",), ExitStatus.USAGE),
            ((), ExitStatus.NOT_CONFIGURED),  # it is ./lab status
            (("--help",), ExitStatus.OK),
        ):
            with self.subTest(words):
                found, said = self.typed(*words)
                self.assertEqual(found, status)
                self.assertGreater(len(said), 20)

    def test_the_help_offers_the_languages_that_are_there(self) -> None:
        with mock.patch.object(cli, "there", return_value=["en", "xx"]):
            self.assertIn("en, xx, or a file", " ".join(self.typed("--help")[1].split()))

    def test_the_help_of_every_command_says_what_it_and_its_words_do(self) -> None:
        _, commands = re.split(r"  COMMAND\n", self.typed("--help")[1].split("\noptions:")[0])
        names = re.findall(r"^    ([a-z]+) ", commands, re.MULTILINE)
        self.assertGreater(len(names), 20)
        for name in names:
            said = self.typed(name, "--help")[1]
            self.assertRegex(said, r"\n\n[A-Z][^:]*?[a-z]", f"{name}: what it does")
            lines = re.findall(r"^  (\S.*(?:\n {8,}.*)?)$", said.split("\n\n", 2)[2], re.MULTILINE)
            self.assertEqual([one for one in lines if not re.search(r"  +\S", one)], [], name)

    def test_an_interrupt_is_no_traceback(self) -> None:
        with mock.patch("grader.commands.hints.hint", side_effect=KeyboardInterrupt):
            self.assertEqual(self.typed("hint", "01", "1")[0], ExitStatus.INTERRUPTED)

    def test_missing_tools_end_start_with_their_status(self) -> None:
        missing = LabError("This machine lacks: gcc", ExitStatus.MISSING)
        with mock.patch("grader.commands.start.set_up", side_effect=missing):
            self.assertEqual(self.typed("start"), (ExitStatus.MISSING, "This machine lacks: gcc\n"))

    def test_start_refuses_large_pages(self) -> None:
        large = Machine(
            "Linux", "Debian", frozenset({"debian"}), "aarch64", False, True, True, 16384
        )
        with mock.patch("grader.commands.start.look", return_value=large):
            status, said = self.typed("start")
        self.assertEqual(status, ExitStatus.MISSING)
        self.assertIn("memory pages have 4096 bytes; here they have 16384", said)

    def test_every_status_has_a_number_of_its_own_and_is_in_the_help(self) -> None:
        said = self.typed("--help")[1]
        for status in ExitStatus:
            if status is not ExitStatus.INTERRUPTED:
                self.assertRegex(said, rf"\b{status.value} [a-z]")


class Program(unittest.TestCase):
    def test_the_file_runs(self) -> None:
        done = subprocess.run([LAB, "--help"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("selfcheck", done.stdout)

    def test_a_reader_who_has_left_is_no_traceback(self) -> None:
        read, write = os.pipe()
        os.close(read)
        words = [LAB, "hint", "01", "1", "1"]
        done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_importing_the_command_line_does_nothing(self) -> None:
        words = [sys.executable, "-c", "import grader.commands.cli"]
        done = subprocess.run(words, cwd=LAB.parent, capture_output=True, check=True)
        self.assertEqual(done.stdout + done.stderr, b"")


if __name__ == "__main__":
    unittest.main()
