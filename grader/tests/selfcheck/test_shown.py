# SPDX-License-Identifier: MIT
"""grader.selfcheck.shown and rubric: compares what is written with real results."""

import contextlib
import io

from grader.building import ctest
from grader.building.records import Record, Verdict
from grader.selfcheck.report import Report
from grader.selfcheck.rubric import check_rubrics
from grader.selfcheck.shown import block, board_of, check_shown
from grader.tests.fake_build import FakeBuild

RUBRIC = """{"cases": [{"case": "twice", "todo": 1, "points": 60},
 {"case": "again", "todo": 1, "points": 20}, {"case": "whole", "todo": 0, "points": 20}]}"""


class Rubric(FakeBuild):
    def failures(self) -> dict[str, str]:
        report = Report()
        with contextlib.redirect_stdout(io.StringIO()), report.section("points") as section:
            check_rubrics(self.project, ctest.tests(self.project), [self.lab], section)
        return dict(report.failures)

    def test_points_as_written_down(self) -> None:
        self.configure()
        self.assertEqual(list(self.failures()), ["lab01 rubric.json"])
        self.write("solutions/01-tiny/tests/rubric.json", RUBRIC)
        self.assertEqual(self.failures(), {})
        self.write("solutions/01-tiny/tests/rubric.json", RUBRIC.replace("60", "50"))
        self.assertIn("twice: tests say (1, 60)", self.failures()["lab01 rubric.json"])

    def test_what_grading_adds(self) -> None:
        self.configure()
        self.write("solutions/01-tiny/tests/rubric.json", RUBRIC)
        toml = "solutions/01-tiny/tests/rubric.toml"
        self.write(toml, '[lab01]\nagain = { depends = ["twice"] }\n')
        self.assertEqual(self.failures(), {})
        self.write(toml, "[lab01]\nagain = { points = 7 }\n")
        self.assertIn("87 points, expected 100", self.failures()["lab01 rubric.toml"])
        self.write(toml, '[lab01]\nagain = { depends = ["nobody"] }\n')
        self.assertIn("nobody", self.failures()["lab01 rubric.toml"])


class Shown(FakeBuild):
    def setUp(self) -> None:
        super().setUp()
        record = Record(
            "solution01.twice",
            "twice",
            1,
            points=60,
            verdict=Verdict.NOT_WRITTEN,
            where="build/vgpu/selfcheck/01-tiny/skeleton/tiny.c:8",
        )
        self.skeletons = {self.lab: [record]}
        self.report = Report()

    def failures(self, start: str, selfcheck: str) -> list[str]:
        self.write(
            "README.md", f"<!-- output: start -->\n```console\n$ ./lab start\n...\n{start}\n```\n"
        )
        self.write("docs/testing.md", f"<!-- output: selfcheck -->\n```console\n{selfcheck}\n```\n")
        with contextlib.redirect_stdout(io.StringIO()), self.report.section("shown") as section:
            check_shown(self.project, self.skeletons, ["things"], section)
        return [name for name, _ in self.report.failures]

    def test_the_board_is_a_learners(self) -> None:
        board = board_of(self.project, self.skeletons)
        self.assertIn("lab 01  tiny", board)
        self.assertIn("write TODO(1) of lab 01 in labs/01-tiny/tiny.c:8", board)

    def test_what_is_shown_is_what_happens(self) -> None:
        board = board_of(self.project, self.skeletons)
        shown = "things     34 passed     5 s  ok\nselfcheck: 34 passed, 0 failed"
        self.assertEqual(self.failures(board, shown), [])

    def test_lines_are_left_out(self) -> None:
        shown = "things     34 passed     5 s  ok\nselfcheck: 34 passed, 0 failed"
        lines = board_of(self.project, self.skeletons).splitlines()
        middle = [*lines[:1], "...", *lines[3:]]
        self.assertEqual(self.failures("\n".join(middle), shown), [])
        for wrong in ([*middle, "..."], [*lines[:1], *lines[3:]], ["...", *lines[3:]]):
            self.report = Report()
            self.assertEqual(self.failures("\n".join(wrong), shown), ["README.md: start"])

    def test_old_output_is_found(self) -> None:
        board = board_of(self.project, self.skeletons).replace("tiny", "small")
        self.assertEqual(
            self.failures(board, "other things 1 passed 1 s  ok"),
            ["README.md: start", "docs/testing.md: selfcheck"],
        )

    def test_a_block_that_is_not_there(self) -> None:
        self.assertEqual(block("text", "start"), "")
