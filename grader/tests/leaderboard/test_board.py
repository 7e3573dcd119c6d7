# SPDX-License-Identifier: MIT
"""The leaderboard: who has a place, what a time is compared with, and that no name is told."""

import html
import json
import re
import tempfile
import unittest
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from unittest import mock

from grader.base.exits import LabError
from grader.course.project import Lab, Project
from grader.grade import term
from grader.grade.batch import Batch
from grader.grade.course import Course, GradedLab
from grader.grade.journal import opened
from grader.grade.model import CaseRun, Run, Status, Submission
from grader.grade.page import webpage
from grader.grade.rubric import Rubric, Rule
from grader.leaderboard import bound, pseudonyms, timed
from grader.leaderboard import page as leaderpage
from grader.leaderboard.board import Board, Mark, Race, Timing, lines
from grader.leaderboard.realgpus import Measured
from grader.leaderboard.timed import Level
from grader.tests.fake import FakeCheckout

LAB = Lab("03-p2p-copy")
RIGHT = Run(cases=(CaseRun("path", Status.PASS), CaseRun("hidden.sizes", Status.PASS)))
MIB_64 = 64 << 20
KEY = b"k" * 32


class Bounds(unittest.TestCase):
    def test_copies(self) -> None:
        """64 MiB at 397 and 278 GB/s, and at 20 from one socket to the other."""
        for node, us in (("hgx-h200-4", 169.04), ("dgx-a100", 241.40)):
            self.assertAlmostEqual(bound.ps("03", node, MIB_64) / 1e6, us, places=2)
        self.assertAlmostEqual(bound.ps("03", "pcie-dual-socket-4", MIB_64) / 1e6, 3355.44, 2)

    def test_sums(self) -> None:
        self.assertAlmostEqual(bound.ps("04", "hgx-h200-4", 16 << 20) / 1e6, 3.82, places=2)

    def test_all_reduces(self) -> None:
        """1.5 times 16 MiB through a port of 397 GB/s; on PCIe 25.5, more than 16 MiB at 20
        between the sockets."""
        for lab in ("07", "08"):
            self.assertAlmostEqual(bound.ps(lab, "hgx-h200-4", 16 << 20) / 1e6, 63.39, places=2)
            pcie = bound.ps(lab, "pcie-dual-socket-4", 16 << 20)
            self.assertAlmostEqual(pcie / 1e6, 986.90, places=2)
        slow = replace(bound.rates("pcie-dual-socket-4"), sockets=10e9)
        with mock.patch.object(bound, "rates", lambda node: slow):
            self.assertAlmostEqual(bound.ps("07", "x", 16 << 20) / 1e6, 1677.72, places=2)

    def test_every_lab_on_every_node(self) -> None:
        for lab in timed.LABS:
            for node in timed.NODES:
                self.assertGreater(bound.ps(lab, node, 1 << 20), 0)


class Asked(unittest.TestCase):
    def read(self, line: str) -> term.Term:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "course.toml"
            path.write_text(line)
            return term.read(path, ["01"])

    def test_by_one_line(self) -> None:
        self.assertTrue(self.read("leaderboard = true").leaderboard)
        self.assertFalse(self.read("late = 10").leaderboard)

    def test_another_value(self) -> None:
        with self.assertRaisesRegex(LabError, "line 2: leaderboard = 'yes'; it is true or false"):
            self.read('late = 10\nleaderboard = "yes"')


class Pseudonyms(unittest.TestCase):
    def test_they_stay_and_tell_nothing(self) -> None:
        first = pseudonyms.pseudonyms(["ada", "bob"], KEY)
        more = pseudonyms.pseudonyms(["ada", "bob", "cyd", "dan"], KEY)
        self.assertEqual(first, {one: more[one] for one in first})
        other = pseudonyms.pseudonyms(["ada", "bob"], b"x" * 32)
        self.assertNotEqual(first["ada"], other["ada"])
        for student, name in first.items():
            self.assertRegex(name, r"^[a-z]+ [a-z]+ \d+$")
            self.assertNotIn(student, name)

    def test_no_two_have_one(self) -> None:
        with mock.patch.object(pseudonyms, "_COLOURS", "red"):
            names = pseudonyms.pseudonyms([f"s{number}" for number in range(900)], KEY)
        self.assertEqual(len(set(names.values())), 900)

    def test_the_key_is_drawn_once_beside_the_seed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "class.json"
            path.write_text('{"seed": 7}')
            key = pseudonyms.key(path)
            self.assertEqual(pseudonyms.key(path), key)
            self.assertEqual(json.loads(path.read_text())["seed"], 7)
            self.assertEqual(len(key), 32)


class Page(unittest.TestCase):
    level = Level("03", "hgx-h200-4", "64 MiB from GPU 0 to GPU 1", 100, 200, 900)

    def race(self, *marks: tuple[str, int, str]) -> Race:
        return Race(self.level, [Mark(*mark) for mark in marks], [Mark("zoe", 99, "2026-11-02")])

    def text(self, board: Board) -> str:
        page = webpage("Leaderboard", leaderpage.blocks(board, named))
        return html.unescape(re.sub(r"<[^>]+>", " ", page))

    def test_the_best_of_each_with_equal_places(self) -> None:
        race = self.race(
            ("ada", 300, "2026-11-01"),
            ("ada", 250, "2026-11-03"),
            ("bob", 250, "2026-11-02"),
            ("cyd", 950, "2026-11-02"),
        )
        rows = leaderpage._standings(race, named)
        self.assertEqual(
            [(row[0], row[1]) for row in rows],
            [
                ("", "speed of light"),
                ("", "the course's solution"),
                ("1", "name of ada"),
                ("1", "name of bob"),
                ("", "the naive way"),
                ("3", "name of cyd"),
            ],
        )
        self.assertEqual(rows[2][2:], ["0.00", "40.0%", "2026-11-03"])

    def test_bests_by_day(self) -> None:
        race = self.race(
            ("ada", 300, "2026-11-01"), ("bob", 400, "2026-11-02"), ("cyd", 250, "2026-11-03")
        )
        told = [(mark.day, mark.student, best) for mark, best in race.by_day()]
        want = [
            ("2026-11-01", "ada", 300),
            ("2026-11-02", "bob", 300),
            ("2026-11-03", "cyd", 250),
        ]
        self.assertEqual(told, want)

    def test_below_the_bound_is_no_place(self) -> None:
        board = Board([self.race(("ada", 300, "2026-11-01"))])
        self.assertNotIn("name of zoe", self.text(board))
        table = lines(board, named)
        self.assertEqual([line[1] for line in table[1:]], ["zoe", "ada"])
        self.assertIn("below the bound", str(table[1][-1]))

    def test_real_gpus_are_marked(self) -> None:
        self.assertNotIn("Real GPUs", self.text(Board([self.race()])))
        real = {"03": Measured("2 NVIDIA H200", 190_000_000, None)}
        told = " ".join(self.text(Board([self.race()], real=real)).split())
        self.assertIn("Real GPUs: 2 NVIDIA H200.", told)
        self.assertIn("the course's solution 190.00 the naive way cannot run there", told)

    def test_it_needs_nothing_from_outside(self) -> None:
        page = webpage("Leaderboard", leaderpage.blocks(Board([self.race()]), named))
        self.assertNotRegex(page, r"(?i)<script|https?:|src=|@import|url\(")
        self.assertIn("color-scheme: light dark", page)


def named(student: str) -> str:
    return f"name of {student}"


class Places(FakeCheckout):
    """Journals are real; who is timed is asked of a worker that needs no build."""

    def board(self, submissions: Iterable[Submission], runs: dict[bytes, Run], us: int) -> Board:
        course = Course(Project(self.root), self.root / "pristine", {})
        lab = GradedLab(
            LAB, "p2p_copy.c", Rubric(LAB, (Rule("path", 1, 5, hidden=False),)), (1,), "f"
        )
        own = Submission(" own", "", LAB, "p2p_copy.c", b"own")
        with (
            opened(self.root / "out") as journal,
            mock.patch.object(timed, "timed_fingerprint", lambda course, lab: self.version),
            mock.patch.object(timed, "solution", lambda course, lab: own),
        ):
            worker = Worker(runs, us)
            batch = Batch(journal, worker, 1, "bare", 1, 0)
            tasks = [batch.task(lab, one) for one in submissions]
            batch.run(batch.to_do(tasks, lambda _: False), lambda task, run: None)
            board = Timing(batch, course, self.withdrawn).board([lab], tasks)
            self.timed = worker.timed
        return board

    def setUp(self) -> None:
        super().setUp()
        self.version = "one"
        self.withdrawn: set[tuple[str, str]] = set()
        self.timed: list[str] = []

    def hand_in(self, student: str, contents: bytes, day: int = 1) -> Submission:
        at = 1_793_000_000.0 + 86400 * day
        return Submission(student, "", LAB, "p2p_copy.c", contents, submitted=at)

    def placed(self, board: Board) -> dict[str, int]:
        return {mark.student: mark.ps for mark in board.races[0].best()}

    def test_only_who_has_everything_right(self) -> None:
        wrong = replace(RIGHT, cases=(*RIGHT.cases, CaseRun("hidden.odd", Status.FAIL)))
        both = [self.hand_in("ada", b"a"), self.hand_in("bob", b"b")]
        board = self.board(both, {b"a": RIGHT, b"b": wrong}, 300)
        self.assertEqual(self.placed(board), {"ada": 300_000_000})
        self.assertEqual(len(board.races), len(timed.NODES))
        self.assertNotIn("b", self.timed)

    def test_a_timed_task_that_fails_is_no_place(self) -> None:
        board = self.board([self.hand_in("ada", b"fails")], {b"fails": RIGHT}, 300)
        self.assertEqual(self.placed(board), {})
        self.assertEqual(board.refused[0][:2], ("ada", "03"))

    def test_bests_stay_and_are_not_timed_again(self) -> None:
        self.board([self.hand_in("ada", b"a")], {b"a": RIGHT}, 300)
        board = self.board([self.hand_in("ada", b"slow", 2)], {b"slow": RIGHT}, 400)
        self.assertEqual(self.placed(board), {"ada": 300_000_000})
        self.assertEqual(len(board.races[0].by_day()), 2)
        self.assertEqual(self.timed, ["slow"] * 1)
        self.board([self.hand_in("ada", b"slow", 2)], {b"slow": RIGHT}, 400)
        self.assertEqual(self.timed, [])

    def test_another_version_is_not_compared(self) -> None:
        self.board([self.hand_in("ada", b"a")], {b"a": RIGHT}, 300)
        self.version = "two"
        board = self.board([self.hand_in("bob", b"b")], {b"b": RIGHT}, 400)
        self.assertEqual((self.placed(board), board.older), ({"bob": 400_000_000}, 1))

    def test_who_withdrew_has_no_place(self) -> None:
        self.board([self.hand_in("ada", b"a")], {b"a": RIGHT}, 300)
        self.withdrawn = {("ada", "")}
        self.assertEqual(self.placed(self.board([], {}, 300)), {})

    def test_faster_than_light(self) -> None:
        board = self.board([self.hand_in("ada", b"a")], {b"a": RIGHT}, 1)
        self.assertEqual(self.placed(board), {})
        self.assertEqual([mark.student for mark in board.races[0].below], ["ada"])

    def test_marks_are_not_touched(self) -> None:
        """The run of a timed task is never taken for that of the tests."""
        one = self.hand_in("ada", b"a")
        self.board([one], {b"a": RIGHT}, 300)
        with opened(self.root / "out") as journal:
            self.assertEqual(journal.before(one.key, one.digest), RIGHT)


class Worker:
    def __init__(self, runs: dict[bytes, Run], us: int) -> None:
        self.runs, self.us = runs, us
        self.timed: list[str] = []

    def grade(self, lab: GradedLab, submission: Submission, *, alone: bool = False) -> Run:
        contents = submission.contents or b""
        if not lab.rubric.rules[0].case.startswith("timed."):
            return self.runs[contents]
        if contents != b"own":
            self.timed.append(contents.decode())
        status = Status.FAIL if contents == b"fails" else Status.PASS
        us = 10_000 if contents == b"own" else self.us
        ps = 0 if status is Status.FAIL else us * 10**6
        return Run(
            cases=tuple(
                CaseRun(rule.case, status, timed_ps=ps, payload=1 << 20)
                for rule in lab.rubric.rules
            )
        )


if __name__ == "__main__":
    unittest.main()
