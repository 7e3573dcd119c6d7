# SPDX-License-Identifier: MIT
"""grader.selfcheck: its plan, the progress that it shows, and the times at its end."""

import io
import unittest

from grader.selfcheck import Depth, times
from grader.selfcheck.plan import steps
from grader.selfcheck.progress import Progress, in_words

PLAN = {"one": 10.0, "two": 30.0, "three": 60.0}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Waiting(unittest.TestCase):
    def setUp(self) -> None:
        self.now = 0.0

    def progress(self, to: io.StringIO) -> Progress:
        return Progress(PLAN, to, lambda: self.now)

    def test_what_is_left_follows_the_pace_so_far(self) -> None:
        progress = self.progress(io.StringIO())
        progress.begin("one")
        self.assertEqual(progress.left(0.5), 95)
        self.now = 20.0
        progress.end()
        progress.begin("two")
        self.assertEqual(progress.left(0.0), 90)  # ten planned seconds are too few for an estimate
        self.now = 50.0
        self.assertEqual(progress.left(0.5), 150)  # twice as slow as planned

    def test_lines_now_and_then(self) -> None:
        to = io.StringIO()
        progress = self.progress(to)
        progress.begin("one")
        progress.end()
        progress.begin("two")
        for count in range(1, 31):
            self.now += 5.0
            progress.show(count, 30)
        lines = to.getvalue().splitlines()
        self.assertEqual(len(lines), 5)
        self.assertEqual(lines[0], "  [2/3] two, 6 of 30; about 3 min left")

    def test_a_line_that_is_written_over(self) -> None:
        to = Terminal()
        progress = self.progress(to)
        progress.begin("one")
        self.now = 1.0
        progress.show(1, 2)
        progress.clear()
        self.assertNotIn("\n", to.getvalue())
        self.assertTrue(to.getvalue().endswith("[1/3] one, 1 of 2; about 95 s left\r\033[K"))

    def test_what_is_not_planned_is_not_shown(self) -> None:
        to = Terminal()
        progress = self.progress(to)
        progress.begin("another")
        self.assertEqual(to.getvalue(), "")

    def test_words(self) -> None:
        self.assertEqual([in_words(s) for s in (0, 31, 99, 130)],
                         ["about 5 s", "about 30 s", "about 100 s", "about 2 min"])  # fmt: skip


class Plans(unittest.TestCase):
    def test_titles_are_there_once_and_deeper_ones_do_more(self) -> None:
        titles = {depth: [step.title for step in steps(depth)] for depth in Depth}
        for all_of_them in titles.values():
            self.assertEqual(len(set(all_of_them)), len(all_of_them))
        basic, ci = titles[Depth.BASIC], titles[Depth.CI]
        self.assertEqual(ci[: len(basic)], basic)
        self.assertEqual(titles[Depth.FULL][: len(basic)], basic)
        self.assertIn("tests of the layer full", titles[Depth.FULL])
        self.assertNotIn("tests of the layer full", ci)

    def test_every_layer_is_run_by_one_of_them(self) -> None:
        run = " ".join(step.title for step in steps(Depth.FULL))
        for layer in ("unit", "selfcheck", "ci", "docs", "full"):
            self.assertRegex(run, rf"tests of the layers? ([a-z]+ and )?{layer}\b")


class Times(unittest.TestCase):
    def test_both_and_the_ratio(self) -> None:
        self.assertEqual(
            times(270, 135), "took 270 s, 2.0 times the 135 s of the first ./lab start"
        )

    def test_too_long_is_said(self) -> None:
        for own, start in ((310, 200), (290, 50)):
            self.assertIn("expected at most 300 s, and 5.0 times", times(own, start))

    def test_where_no_start_was_timed(self) -> None:
        self.assertEqual(times(100, 0), "took 100 s; no ./lab start has built this checkout")


if __name__ == "__main__":
    unittest.main()
