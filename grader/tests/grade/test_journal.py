# SPDX-License-Identifier: MIT
"""grader.grade.journal and batch: nothing finished is lost, nothing torn is believed."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
import zlib
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

from grader.base.exits import LabError
from grader.course.project import Lab, Project
from grader.grade.batch import MOST_BEGINNINGS, Batch, Task
from grader.grade.course import Course, GradedLab
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

    @mock.patch("grader.grade.journal.os.fsync")  # two for each byte of the journal
    def test_torn_lines(self, _: mock.Mock) -> None:
        self.graded(FakeWorker(), [("ada", b"good"), ("bob", b"bad")])
        path = self.out / "journal.jsonl"
        whole = path.read_bytes()
        for cut in range(len(whole)):
            path.write_bytes(whole[:cut])
            with opened(self.out) as journal:
                ends = whole[:cut].count(b'"event": "end"')
                self.assertIn(len(journal.runs), (ends, ends - 1))
                journal.begin("lab01/cyd", "key")
            with opened(self.out) as journal:
                self.assertEqual(journal.begun["key"], 1, cut)
                self.assertLessEqual(journal.damaged, 1)

    def test_every_line_is_json(self) -> None:
        """Of a grader from before the checksum stood inside, too."""
        self.graded(FakeWorker(), [("ada", b"good"), ("\udc80", b"bad")])
        path = self.out / "journal.jsonl"
        lines = path.read_bytes().splitlines()
        self.assertTrue(all("crc32" in json.loads(line) for line in lines))
        before = [re.sub(rb', "crc32": "\w+"}$', b"}", line) for line in lines]
        path.write_bytes(b"".join(b"%08x %s\n" % (zlib.crc32(one), one) for one in before))
        with opened(self.out) as journal:
            self.assertEqual((journal.damaged, len(journal.runs)), (0, 2))

    def test_a_damaged_line(self) -> None:
        self.graded(FakeWorker(), [("ada", b"good"), ("bob", b"bad")])
        path = self.out / "journal.jsonl"
        lines = path.read_bytes().split(b"\n")
        at = next(n for n, line in enumerate(lines) if b'"end"' in line)
        lines[at] = lines[at].replace(b'"status": "', b'"status": "x')
        path.write_bytes(b"\n".join(lines))
        with opened(self.out) as journal:
            self.assertEqual((journal.damaged, len(journal.runs)), (1, 1))

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
        """The kernel's limit on a file's size stands in for a full disk: a line is cut short."""
        self.graded(FakeWorker(), [("ada", b"good")])
        size = (self.out / "journal.jsonl").stat().st_size
        script = (
            "import sys; from pathlib import Path\n"
            "from grader.tests.grade import test_journal as t\n"
            "c = t.Journals('test_full_disk'); c.out = Path(sys.argv[1])\n"
            "c.graded(t.FakeWorker(), [('bob', b'bad')])"
        )

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 150, size + 150))

        done = subprocess.run(
            [sys.executable, "-B", "-c", script, str(self.out)],
            preexec_fn=limit,
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[3],
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
            journal.begin("lab01/ada", tasks[0].cache)
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
