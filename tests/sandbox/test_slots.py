# SPDX-License-Identifier: MIT
"""No two graders of a machine have the same slot, and none stays taken when its grader is gone."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

from grader.grade import work
from grader.sandbox import Request, SandboxError, Tier, run, slots
from grader.sandbox.policy import uid_of
from tests.sandbox.tiers import available

ROOT = Path(__file__).resolve().parents[2]
OTHER = """
import sys, time
from contextlib import ExitStack
from grader.sandbox import slots
with ExitStack() as all:
    print(*(all.enter_context(slots.claim()) for _ in range(int(sys.argv[1]))), flush=True)
    time.sleep(600)
"""


class Slots(unittest.TestCase):
    def other(self, count: int) -> tuple["subprocess.Popen[str]", set[int]]:
        """Another grader, with so many slots."""
        process = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(count)],
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
        for tier in (one for one in available() if uid_of(0)):
            with self.subTest(tier=tier.value), slots.claim() as mine:
                said = run(Request(argv=("/usr/bin/id", "-u")), tier).text.strip()
                self.assertNotEqual(said, str(uid_of(mine)))
                self.assertGreaterEqual(int(said), uid_of(0))

    def test_workers_of_two_graders(self) -> None:
        graders = [
            work.worker(mock.Mock(), Tier.UID, 1, jobs=2, prefix="lab-test-", orders=1)
            for _ in range(2)
        ]
        with ExitStack() as stack:
            taken = {stack.enter_context(one.slot()) for one in (*graders, *graders)}
            self.assertEqual(len(taken), 4)

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

    def test_one_at_a_time_where_all_are_one_user(self) -> None:
        self.assertEqual(Tier.LANDLOCK.slots(slots.MOST), 1)


if __name__ == "__main__":
    unittest.main()
