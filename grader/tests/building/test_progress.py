# SPDX-License-Identifier: MIT
"""grader.building.progress: the part of a build's output that is shown."""

import contextlib
import io
import sys
import unittest
from pathlib import Path

from grader.building.progress import Progress, show_build

NINJA = [f"[{n}/8] Compiling {n}.c" for n in range(1, 9)]


def seen(lines: list[str], *, moving: bool) -> str:
    to = io.StringIO()
    progress = Progress(to, moving)
    for line in lines:
        progress.feed(line)
    progress.close()
    return to.getvalue()


class Seen(unittest.TestCase):
    def test_a_few_lines_where_there_is_no_terminal(self) -> None:
        self.assertEqual(seen(NINJA, moving=False).count("\n"), 4)
        self.assertIn("   50%  Compiling 4.c\n", seen(NINJA, moving=False))

    def test_one_line_on_a_terminal_and_nothing_stays(self) -> None:
        text = seen(NINJA, moving=True)
        self.assertNotIn("\n", text)
        self.assertTrue(text.endswith("Compiling 8.c\r\033[K"))

    def test_errors_are_shown_as_they_are(self) -> None:
        text = seen(["[ 10%] Compiling x.c", "x.c:1:1: error: no"], moving=True)
        self.assertTrue(text.endswith("\033[Kx.c:1:1: error: no\n"))

    def test_nothing_to_do_says_nothing(self) -> None:
        lines = [
            "-- GLOB mismatch!",
            "ninja: no work to do.",
            "[100%] Built target x",
            "gmake: Nothing to be done.",
        ]
        self.assertEqual(seen(lines, moving=False), "")

    def test_output_and_status_are_kept(self) -> None:
        words = [sys.executable, "-c", "import sys; print('[1/1] it'); sys.exit(3)"]
        with contextlib.redirect_stdout(io.StringIO()):
            done = show_build(words, cwd=Path.cwd(), env={})
        self.assertEqual((done.status, done.output), (3, "[1/1] it\n"))


if __name__ == "__main__":
    unittest.main()
