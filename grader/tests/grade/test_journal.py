# SPDX-License-Identifier: MIT
"""grader.grade.journal and batch: nothing finished is lost, nothing damaged is believed."""

import contextlib
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterable
from pathlib import Path
from unittest import mock

from grader.base.exits import LabError
from grader.course.project import Lab, Project
from grader.grade.batch import MOST_BEGINNINGS, Batch, Task
from grader.grade.course import Course, GradedLab
from grader.grade.database import NAME
from grader.grade.journal import opened, write_whole
from grader.grade.model import CaseRun, Run, Status, Submission
from grader.grade.proof import ATTEMPTS, prove
from grader.grade.rubric import Rubric, Rule

LAB = Lab("01-tiny")
GRADED = GradedLab(LAB, "tiny.c", Rubric(LAB, (Rule("one", 1, 100, False),)), (1,), "abc")


class FakeWorker:
    """Passes whatever holds "good"; `breaks` says how often which contents break first."""

    def __init__(self, breaks: dict[bytes, int] | None = None) -> None:
        self.breaks = dict(breaks or {})
        self.seen: list[str] = []

    def grade(self, lab: GradedLab, submission: Submission, *, alone: bool = False) -> Run:
        self.seen.append(submission.student)
        contents = submission.contents or b""
        if self.breaks.get(contents, 0) > 0:
            self.breaks[contents] -= 1
            return Run(broken="out of luck")
        status = Status.PASS if b"good" in contents else Status.FAIL
        return Run(cases=(CaseRun("one", status),))


class InFolder(unittest.TestCase):
    """`self.out` is an output folder."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)


class Journals(InFolder):
    def graded(
        self, worker: FakeWorker, who: Iterable[tuple[str, bytes]], **more: bool
    ) -> tuple[dict[str, Run], dict[str, Run | None]]:
        """What broke, by cache key, and how each student's run ended."""
        with opened(self.out) as journal:
            batch = Batch(journal, worker, 1, "bare", 2, 1)
            tasks = [batch.task(GRADED, self.submission(*one)) for one in who]
            work = batch.to_do(tasks, lambda _: more.get("regrade", False))
            broken = batch.run(work, lambda task, run: None)
            return broken, {t.submission.student: journal.runs.get(t.cache) for t in tasks}

    def submission(self, student: str, contents: bytes) -> Submission:
        return Submission(student, "", LAB, "tiny.c", contents)

    def test_nothing_is_graded_twice(self) -> None:
        worker = FakeWorker()
        who = [("ada", b"good"), ("bob", b"bad"), ("cyd", b"good")]
        _, runs = self.graded(worker, who)
        self.assertEqual(len(worker.seen), 2)
        self.assertEqual(runs["cyd"].cases[0].status, Status.PASS)
        self.graded(worker, [*who, ("dan", b"new")])
        self.assertEqual(worker.seen[2:], ["dan"])
        self.graded(worker, who, regrade=True)
        self.assertEqual(len(worker.seen), 5)

    def test_what_breaks_is_tried_again(self) -> None:
        worker = FakeWorker({b"good": 1, b"bad": 2})
        broken, runs = self.graded(worker, [("ada", b"good"), ("bob", b"bad")])
        self.assertEqual(len(broken), 1)
        self.assertEqual(runs["ada"].cases[0].status, Status.PASS)
        self.assertIsNone(runs["bob"])
        broken, runs = self.graded(worker, [("ada", b"good"), ("bob", b"bad")])
        self.assertEqual((broken, len(worker.seen)), ({}, 5))

    def test_breaking_overwrites_no_result(self) -> None:
        self.graded(FakeWorker(), [("ada", b"good")])
        broken, runs = self.graded(FakeWorker({b"good": 9}), [("ada", b"good")], regrade=True)
        self.assertEqual(len(broken), 1)
        self.assertEqual(runs["ada"].cases[0].status, Status.PASS)

    def in_a_process(
        self, script: str, before: Callable[[], None] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """`script` finds a test case `c` with our folder, and `t`, this module."""
        head = (
            "import os, sys; from pathlib import Path\n"
            "from grader.tests.grade import test_journal as t\n"
            "c = t.Journals('test_full_disk'); c.out = Path(sys.argv[1])\n"
        )
        command = [sys.executable, "-B", "-c", head + script, str(self.out)]
        where = Path(__file__).parents[3]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=where, preexec_fn=before
        )

    def test_killed_within_a_transaction(self) -> None:
        """So much of it that the file has the half of it."""
        self.graded(FakeWorker(), [("ada", b"good")])
        done = self.in_a_process(
            "with t.opened(c.out) as journal, journal.base.together():\n"
            "    for at in range(8):\n"
            "        run = t.Run(compiler_output=f'{at}' * (1 << 20))\n"
            "        journal.end('lab01/bob', f'key{at}', 'digest', run, 1.0)\n"
            "    os.kill(os.getpid(), 9)\n"
        )
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        self.assertGreater((self.out / NAME).stat().st_size, 2 << 20)
        with opened(self.out) as journal:
            self.assertEqual((len(journal.runs), journal.damaged), (1, 0))
            self.assertEqual(journal.base.all("PRAGMA integrity_check"), [("ok",)])

    def test_a_name_that_is_no_text(self) -> None:
        with opened(self.out) as journal:
            run = Run(compiler_output="\udc80 \u00e9")
            journal.end("lab01/\udc80", "key", "digest", run, 1.0)
            journal.seen("lab01/\udc80", "digest", "key", None)
        with opened(self.out) as journal:
            self.assertEqual(journal.before("lab01/\udc80", "digest"), run)
            self.assertEqual([one.cache for one in journal.attempts("lab01/\udc80")], ["key"])

    def test_a_damaged_result(self) -> None:
        worker = FakeWorker()
        self.graded(worker, [("ada", b"good"), ("bob", b"bad")])
        with contextlib.closing(sqlite3.connect(self.out / NAME)) as base, base:
            base.execute("UPDATE runs SET run = replace(run, '\"fail\"', '\"pass\"')")
        with opened(self.out) as journal:
            self.assertEqual((journal.damaged, len(journal.runs)), (1, 1))
        _, runs = self.graded(worker, [("ada", b"good"), ("bob", b"bad")])
        self.assertEqual(worker.seen[2:], ["bob"])
        self.assertEqual(runs["bob"].cases[0].status, Status.FAIL)

    def test_a_damaged_file(self) -> None:
        self.graded(FakeWorker(), [("ada", b"good")])
        (self.out / NAME).write_bytes(b"x" * 10_000)
        with self.assertRaisesRegex(LabError, "cannot be read: .*put a copy"), opened(self.out):
            pass

    def test_the_clock_jumps(self) -> None:
        """A day back, a year forth: the last line counts, not the latest time."""
        worker = FakeWorker()
        for now in (2e9, 1.9e9, 4e9, 0.0):
            with mock.patch("time.time", return_value=now):
                _, runs = self.graded(worker, [("ada", b"good")], regrade=True)
            self.assertEqual(runs["ada"].cases[0].status, Status.PASS)
        with opened(self.out) as journal:
            self.assertEqual(list(journal.at.values()), [0.0])

    def test_one_at_a_time(self) -> None:
        with (
            opened(self.out),
            self.assertRaisesRegex(LabError, "Another ./lab grade"),
            opened(self.out),
        ):
            pass

    def test_full_disk(self) -> None:
        """The kernel's limit on a file's size stands in for a full disk: nothing of it is kept."""
        self.graded(FakeWorker(), [("ada", b"good")])
        size = (self.out / NAME).stat().st_size

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        done = self.in_a_process(
            "with t.opened(c.out) as journal:\n"
            "    journal.end('lab01/bob', 'key', '', t.Run(compiler_output='x' * (1 << 20)), 1.0)",
            limit,
        )
        self.assertIn("make room and run the same command again", done.stderr)
        worker = FakeWorker()
        _, runs = self.graded(worker, [("ada", b"good"), ("bob", b"bad")])
        self.assertEqual(worker.seen, ["bob"])
        self.assertEqual(runs["bob"].cases[0].status, Status.FAIL)

    def test_what_ends_the_grader_comes_last_and_not_for_ever(self) -> None:
        with opened(self.out) as journal:
            batch = Batch(journal, FakeWorker(), 1, "bare", 1, 1)
            tasks = [batch.task(GRADED, self.submission(s, s.encode())) for s in ("ada", "bob")]
            journal.begin(tasks[0].cache)
        with opened(self.out) as journal:
            batch = Batch(journal, FakeWorker(), 1, "bare", 1, 1)
            names = [task.submission.student for task in batch.to_do(tasks, lambda _: False)]
            self.assertEqual(names, ["bob", "ada"])
            journal.begun[tasks[0].cache] = MOST_BEGINNINGS
            broken = batch.run(tasks, lambda task, run: None)
            self.assertIn("the grader itself ended", broken[tasks[0].cache].broken)
            self.assertIn(tasks[1].cache, journal.runs)
            broken = batch.run(batch.to_do(tasks, lambda _: True), lambda task, run: None)
            self.assertEqual((broken, len(journal.runs)), ({}, 2))  # --regrade tries it again

    def test_an_interruption_keeps_what_is_done(self) -> None:
        worker = FakeWorker()

        def stop(task: Task, run: Run) -> None:
            raise KeyboardInterrupt

        with opened(self.out) as journal:
            batch = Batch(journal, worker, 1, "bare", 1, 1)
            tasks = [batch.task(GRADED, self.submission(s, s.encode())) for s in "abcdefgh"]
            with self.assertRaises(KeyboardInterrupt):
                batch.run(tasks, stop)
        with opened(self.out) as journal:
            self.assertEqual(len(journal.runs), len(worker.seen))
            self.assertGreaterEqual(len(journal.runs), 1)


class Proof(InFolder):
    """Nobody is graded where the course's own solution does not pass."""

    def setUp(self) -> None:
        super().setUp()
        self.told: list[str] = []

    def prove(self, worker: FakeWorker, solution: bytes) -> None:
        project = Project(self.out)
        path = project.solutions_dir / LAB.folder / "tiny.c"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(solution)
        with opened(self.out) as journal:
            batch = Batch(journal, worker, 1, "bare", 2, 1)
            prove(batch, Course(project, self.out, {}), [GRADED], self.told.append)

    def test_it_passes_once(self) -> None:
        worker = FakeWorker()
        self.prove(worker, b"good")
        self.prove(worker, b"good")
        self.assertEqual((len(worker.seen), self.told), (1, ["lab01"]))

    def test_it_fails(self) -> None:
        worker = FakeWorker()
        for _ in range(2):
            with self.assertRaisesRegex(LabError, "own solution does not get full marks"):
                self.prove(worker, b"bad")
        self.assertEqual(len(worker.seen), 2 * ATTEMPTS)

    def test_it_breaks(self) -> None:
        with self.assertRaisesRegex(LabError, "out of luck"):
            self.prove(FakeWorker({b"good": 2 * ATTEMPTS}), b"good")
        self.prove(FakeWorker({b"good": 2}), b"good")  # the second attempt passes

    def test_who_kills_the_grader_never_ends_it_for_good(self) -> None:
        killed = mock.Mock()
        killed.grade.side_effect = KeyboardInterrupt
        for _ in range(MOST_BEGINNINGS + 1):
            with self.assertRaises(KeyboardInterrupt):
                self.prove(killed, b"good")
        worker = FakeWorker()
        self.prove(worker, b"good")
        self.assertEqual(len(worker.seen), 1)


class Files(unittest.TestCase):
    def test_whole_or_not_at_all(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "x.json"
            write_whole(path, "old")
            with (
                mock.patch.object(os, "fsync", side_effect=OSError(28, "No space left on device")),
                self.assertRaisesRegex(LabError, "No space left"),
            ):
                write_whole(path, "new")
            self.assertEqual(path.read_text(), "old")
            self.assertEqual([file.name for file in Path(name).iterdir()], ["x.json"])


if __name__ == "__main__":
    unittest.main()
