# SPDX-License-Identifier: MIT
"""No two graders of a machine have the same slot, and none stays taken when its grader is gone."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from pathlib import Path
from unittest import mock

from grader.grade import work
from grader.grade.model import CaseRun, Status
from grader.grade.rubric import Rule
from grader.sandbox import Outcome, Request, SandboxError, Tier, run, slots
from grader.sandbox.policy import uid_of
from tests.sandbox.tiers import available

ROOT = Path(__file__).resolve().parents[2]
MACHINES = slots.PLACES  # where graders agree
OTHER = """
import sys, time
from contextlib import ExitStack
from pathlib import Path
from grader.sandbox import slots
slots.PLACES = (Path(sys.argv[1]),) * 2
with ExitStack() as all:
    print(*(all.enter_context(slots.claim()) for _ in range(int(sys.argv[2]))), flush=True)
    time.sleep(600)
"""
ASKING = """
import sys, time
from pathlib import Path
from grader.sandbox import slots
slots.PLACES = (Path(sys.argv[1]),) * 2
with slots.asking(7, "hidden"):
    print("in", flush=True)
    time.sleep(600)
"""


class Slots(unittest.TestCase):
    """In a folder of their own: otherwise a grader of this machine could wait for what a test
    holds, and the test for what that grader has."""

    def setUp(self) -> None:
        self.place = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.object(slots, "PLACES", (Path(self.place),) * 2))

    def other(self, count: int) -> tuple["subprocess.Popen[str]", set[int]]:
        """Another grader, with so many slots."""
        process = subprocess.Popen(
            [sys.executable, "-c", OTHER, self.place, str(count)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        assert process.stdout
        self.addCleanup(process.stdout.close)
        return process, {int(word) for word in process.stdout.readline().split()}

    def test_another_process_has_others(self) -> None:
        _, theirs = self.other(3)
        _, thirds = self.other(2)
        with slots.claim() as one, slots.claim() as two:
            self.assertEqual(len({one, two} | theirs | thirds), 7)

    def test_a_killed_grader_holds_nothing(self) -> None:
        process, (slot,) = self.other(1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with slots.claim() as mine:
            self.assertLessEqual(mine, slot)

    def test_a_run_without_a_slot_takes_a_free_one(self) -> None:
        """Among all graders of the machine: its user must be nobody else's."""
        self.enterContext(mock.patch.object(slots, "PLACES", MACHINES))
        for tier in (one for one in available() if uid_of(0)):
            with self.subTest(tier=tier.value), slots.claim() as mine:
                said = run(Request(argv=("/usr/bin/id", "-u")), tier).text.strip()
                self.assertNotEqual(said, str(uid_of(mine)))
                self.assertGreaterEqual(int(said), uid_of(0))

    def test_workers_of_two_graders(self) -> None:
        graders = [
            work.worker(mock.Mock(), Tier.UID, 1, jobs=2, scratch=Path("/tmp"), orders=1)
            for _ in range(2)
        ]
        with ExitStack() as stack:
            taken = {stack.enter_context(one.slot()) for one in (*graders, *graders)}
            self.assertEqual(len(taken), 4)

    def test_public_and_hidden_tests_are_never_asked_at_the_same_time(self) -> None:
        """Of two submissions, by whichever graders: what is shown of the one cannot be of the
        other. Tests of one kind go on side by side. What a compiler says is shown, so a build
        counts as a public test."""
        seen: list[tuple[str, float, float]] = []

        def happens(name: str) -> None:
            began = time.monotonic()
            time.sleep(0.02 * (1 + len(seen) % 4))  # workers are not in step
            seen.append((name, began, time.monotonic()))

        def build(desk: work._Desk) -> Outcome:
            happens("build")
            return Outcome(0, b"", Tier.UID)

        def ask(desk: work._Desk, rule: Rule, launch: object) -> CaseRun:
            happens(rule.case)
            return CaseRun(rule.case, Status.PASS)

        names = ("a", "hidden.b", "c", "hidden.d", "e")
        rules = tuple(Rule(name, 1, 1, name.startswith("hidden.")) for name in names)
        lab = mock.Mock(rubric=mock.Mock(rules=rules), lab=mock.Mock(folder="x"), file="x.c")
        launch = mock.Mock(environment={"LAB_WALL_SECONDS": "9"})
        with (
            tempfile.TemporaryDirectory() as name,
            mock.patch.object(work._Desk, "_build", build),
            mock.patch.object(work._Desk, "_ask", ask),
            mock.patch.object(work._Desk, "_environment", lambda *_: {}),
            mock.patch.object(work, "prepare", lambda *_: nullcontext(launch)),
            mock.patch.object(work, "_within", lambda launch, left: launch),
            ThreadPoolExecutor(3) as pool,
        ):
            worker = work.worker(mock.Mock(), Tier.UID, 1, 3, Path(name), 0)
            student = mock.Mock(contents=b"")
            runs = list(pool.map(lambda _: worker.grade(lab, student), range(9)))
        self.assertEqual([run.broken for run in runs], [""] * 9)
        self.assertEqual(len(seen), 9 * (1 + len(names)))
        spans = [(case.startswith("hidden."), *when) for case, *when in seen]
        both = [(a, b) for a in spans for b in spans if a is not b and a[1] < b[2] and b[1] < a[2]]
        self.assertEqual([pair for pair in both if pair[0][0] != pair[1][0]], [])
        self.assertTrue(both)

    def test_a_killed_grader_asks_nothing(self) -> None:
        words = [sys.executable, "-c", ASKING, self.place]
        with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            self.assertEqual(process.stdout.readline(), "in\n")
            with slots.asking(8, "hidden"):
                process.kill()
        with slots.asking(8, "public"):
            pass

    def test_waiting_has_an_end(self) -> None:
        with (
            tempfile.TemporaryDirectory() as name,
            mock.patch.object(slots, "_folder", return_value=Path(name)),
        ):
            with (
                slots.claim(1),
                mock.patch.object(slots, "PATIENCE_SECONDS", 0.2),
                self.assertRaisesRegex(SandboxError, "all 1 slots .* wait for them"),
                slots.claim(1),
            ):
                pass
            with slots.claim(1) as slot:
                self.assertEqual(slot, 0)

    def test_a_folder_of_somebody_else(self) -> None:
        with (
            tempfile.TemporaryDirectory() as name,
            mock.patch.object(tempfile, "gettempdir", return_value=name),
            mock.patch.object(os, "access", return_value=False),
        ):
            folder = Path(name) / f"peerlab-slots-{os.geteuid()}"
            folder.mkdir(mode=0o777)
            folder.chmod(0o777)
            with self.assertRaisesRegex(SandboxError, "Remove it"), slots.claim():
                pass
            folder.rmdir()
            folder.symlink_to("/")
            with self.assertRaisesRegex(SandboxError, "Remove it"), slots.claim():
                pass
            folder.unlink()
            with slots.claim() as slot:
                self.assertEqual(slot, 0)

    def test_graders_of_one_user_agree_whatever_their_tmpdir(self) -> None:
        self.enterContext(mock.patch.object(slots, "PLACES", MACHINES))
        for user in (0, 4711):
            with mock.patch.object(os, "geteuid", return_value=user):
                tops = set()
                for name in ("/var/tmp", "/tmp/job-2"):
                    with mock.patch.object(tempfile, "gettempdir", return_value=name):
                        tops.add(slots._top())
            self.assertEqual(len(tops), 1, tops)

    def test_other_users_graders_are_seen(self) -> None:
        """Their folder cannot be opened by us; that it is locked can be read."""
        me = os.geteuid()
        with (
            tempfile.TemporaryDirectory() as name,
            mock.patch.object(slots, "PLACES", [Path(name)] * 2),
        ):
            with slots.claim():
                self.assertEqual(slots.other_users(), set())
                with mock.patch.object(os, "geteuid", return_value=me + 1):
                    self.assertEqual(slots.other_users(), {me})
            with mock.patch.object(os, "geteuid", return_value=me + 1):
                self.assertEqual(slots.other_users(), set())

    def test_one_at_a_time_where_all_are_one_user(self) -> None:
        self.assertEqual(Tier.LANDLOCK.slots(slots.MOST), 1)


if __name__ == "__main__":
    unittest.main()
