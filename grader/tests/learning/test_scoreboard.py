# SPDX-License-Identifier: MIT
"""building.records and learning.scoreboard: the progress that a learner sees."""

import os
import shutil
import unittest
from dataclasses import replace
from unittest import mock

from grader.base.looks import Looks
from grader.building import ctest
from grader.building.records import Record, Verdict, read_record, worst
from grader.commands import contents
from grader.commands.contents import entries
from grader.course.project import Lab, Project, here
from grader.learning.scoreboard import LabScore, next_step, render, scores
from grader.learning.standing import load, remember
from grader.learning.testing import LEARNER, run_tests
from grader.tests.fake_build import FakeBuild


def case(name: str, todo: int, verdict: Verdict, points: int = 10) -> Record:
    return Record(f"lab01.{name}", name, todo, points=points, verdict=verdict)


def score(*cases: Record) -> LabScore:
    return LabScore(Lab("01-tiny"), cases)


class Board(unittest.TestCase):
    def test_a_todo_is_as_good_as_its_worst_case(self) -> None:
        line = score(
            case("a", 1, Verdict.PASS),
            case("b", 1, Verdict.FAIL),
            case("c", 0, Verdict.NOT_WRITTEN),
            case("d", 2, Verdict.PASS),
        )
        self.assertEqual(line.todos[1], Verdict.FAIL)
        self.assertEqual(list(line.todos), [1, 2, 0])
        self.assertEqual((line.points, line.points_possible), (20, 40))

    def test_worst(self) -> None:
        self.assertIs(worst([Verdict.PASS, Verdict.CANNOT_RUN]), Verdict.CANNOT_RUN)
        self.assertIs(worst([Verdict.HARNESS_ERROR, Verdict.FAIL]), Verdict.HARNESS_ERROR)
        self.assertIs(worst([]), Verdict.UNKNOWN)

    def test_signs_and_legend(self) -> None:
        text = render([score(case("a", 1, Verdict.PASS), case("b", 2, Verdict.NOT_WRITTEN))])
        self.assertRegex(text, r"lab 01  tiny +● ○ +10 of 20 points")
        self.assertIn("○ not written yet", text)
        self.assertNotIn("failed", text)

    def test_color_only_when_asked(self) -> None:
        line = score(case("a", 1, Verdict.PASS))
        self.assertNotIn("\033", render([line]))
        with mock.patch("grader.base.looks._chosen", Looks(color=True)):
            self.assertIn("\033[32m●", render([line]))

    def test_marks_older_than_an_edit_are_not_shown_as_fresh(self) -> None:
        line = replace(score(case("a", 1, Verdict.PASS)), edited=True)
        said = render([line, line])
        self.assertEqual(said.count("10 of 10 points  edited since\n"), 2)
        self.assertEqual(said.count("these marks are older than the file"), 1)
        with mock.patch("grader.base.looks._chosen", Looks(color=True)):
            self.assertRegex(render([line]), "\033\\[2m  lab 01  tiny +●.*edited since\033\\[0m")
        with mock.patch("grader.base.looks._chosen", Looks(plain=True)):
            self.assertIn("lab 01  tiny, edited since: 10 of 10", render([line]))

    def test_plain_is_sentences_without_signs(self) -> None:
        line = score(case("a", 1, Verdict.PASS), case("w", 0, Verdict.NOT_WRITTEN))
        with mock.patch("grader.base.looks._chosen", Looks(plain=True)):
            said = render([line])
        words = "lab 01  tiny: 10 of 20 points. TODO 1 passed, whole lab not written yet"
        self.assertIn(words, said)
        self.assertTrue(said.isascii())


class NextStep(unittest.TestCase):
    project: Project = here()

    def test_what_failed_comes_before_what_is_not_written(self) -> None:
        line = score(case("a", 1, Verdict.NOT_WRITTEN), case("b", 2, Verdict.FAIL))
        text = next_step(self.project, [line])
        self.assertIn("repair lab01.b", text)
        self.assertIn("./lab hint 01 2", text)

    def test_what_was_edited_is_to_be_tested(self) -> None:
        done = replace(score(case("a", 1, Verdict.PASS)), edited=True)
        text = next_step(self.project, [done, score(case("b", 2, Verdict.FAIL))])
        self.assertIn("Next: test lab 01: it was edited", text)
        self.assertNotIn("repair", text)

    def test_todos_in_their_order_the_whole_lab_last(self) -> None:
        wait = Verdict.NOT_WRITTEN
        line = score(case("w", 0, wait), case("b", 2, wait), case("a", 1, wait))
        self.assertIn("write TODO(1) of lab 01", next_step(self.project, [line]))

    def test_a_finished_lab_is_passed_over(self) -> None:
        done = score(case("a", 1, Verdict.PASS), case("b", 2, Verdict.CANNOT_RUN))
        self.assertIn("Every lab passes", next_step(self.project, [done]))
        self.assertIn("./lab start", next_step(self.project, []))


class Recorded(FakeBuild):
    def setUp(self) -> None:
        super().setUp()
        self.configure()

    def board(self) -> LabScore:
        (line,) = scores(self.project, ctest.tests(self.project))
        return line

    def test_before_any_run_the_cases_are_known_all_the_same(self) -> None:
        line = self.board()
        self.assertEqual(line.todos, {1: Verdict.UNKNOWN, 0: Verdict.UNKNOWN})
        self.assertEqual((line.points, line.points_possible), (0, 100))
        self.assertIn("it has not been run", next_step(self.project, [line]))

    def test_before_anything_is_built(self) -> None:
        """ctest lists tests without a command if their program does not exist."""
        bare = [replace(test, command=()) for test in ctest.tests(self.project)]
        (line,) = scores(self.project, bare)
        self.assertEqual(line.points, 0)
        self.assertIn("it has not been run", next_step(self.project, [line]))

    def test_after_a_run(self) -> None:
        run_tests(self.project, LEARNER)
        line = self.board()
        self.assertEqual(line.todos, {1: Verdict.NOT_WRITTEN, 0: Verdict.FAIL})
        self.assertEqual(line.points, 20)
        self.assertIn("said   said of whole", next_step(self.project, [line]))

    def test_a_fresh_build_still_knows(self) -> None:
        remember(self.project, (o.record for o in run_tests(self.project, LEARNER)))
        shutil.rmtree(self.project.build_dir / "results")
        self.assertEqual(self.board().todos, {1: Verdict.NOT_WRITTEN, 0: Verdict.FAIL})
        self.assertEqual(self.board().points, 20)

    def test_an_edit_after_the_run_is_noticed(self) -> None:
        run_tests(self.project, LEARNER)
        self.write("labs/01-tiny/README.md", "newer, and no source")
        self.assertFalse(self.board().edited)
        os.utime(self.root / "labs/01-tiny/tiny.c", (2**33, 2**33))
        self.assertTrue(self.board().edited)
        remember(self.project, self.board().cases)
        (entry,) = entries(self.project, load(self.project))
        self.assertTrue(entry.edited)
        self.assertIn(", edited since", contents.render([entry]))

    def test_another_file_in_its_place_with_an_old_time_is_noticed(self) -> None:
        kept = self.write("kept.c", "")
        os.utime(kept, (1, 1))
        run_tests(self.project, LEARNER)
        kept.replace(self.root / "labs/01-tiny/tiny.c")
        self.assertTrue(self.board().edited)

    def test_half_a_record_is_none(self) -> None:
        self.assertIsNone(read_record(self.write("x.json", '{"test": "lab01.a"')))
        self.assertIsNone(read_record(self.write("x.json", '{"test": "lab01.a"}')))


if __name__ == "__main__":
    unittest.main()
