# SPDX-License-Identifier: MIT
"""grader.grade.scratch: the next grader removes what a killed one left, whatever it grades."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from grader.grade import scratch
from grader.sandbox import held, launch
from grader.sandbox.request import Request, Tier

ROOT = Path(__file__).resolve().parents[3]
GRADER = """
import time
from grader.grade.scratch import scratch
with scratch() as folder:
    (folder / "work").mkdir()
    print(folder, flush=True)
    time.sleep(600)
"""


class Scratch(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        patch = mock.patch.object(tempfile, "tempdir", place.name)
        patch.start()
        self.addCleanup(patch.stop)

    def grader(self) -> tuple["subprocess.Popen[str]", Path]:
        process = subprocess.Popen(
            [sys.executable, "-c", GRADER],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(self.place)},
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        assert process.stdout
        self.addCleanup(process.stdout.close)
        return process, Path(process.stdout.readline().strip())

    def test_the_living_keep_theirs_and_the_dead_do_not(self) -> None:
        killed, left = self.grader()
        _, kept = self.grader()
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        self.assertTrue((left / "work").is_dir())
        with scratch.scratch() as mine:
            self.assertFalse(left.exists())
            self.assertTrue((kept / "work").is_dir())
            scratch.sweep()
            self.assertTrue(mine.is_dir())
        self.assertFalse(mine.exists())

    def test_one_that_is_just_being_made_stays(self) -> None:
        young = self.place / f"{scratch.PREFIX}young"
        young.mkdir()
        scratch.sweep()
        self.assertTrue(young.is_dir())
        old = time.time() - 2 * held.YOUNG_SECONDS
        os.utime(young, (old, old))
        scratch.sweep()
        self.assertFalse(young.exists())

    def test_policies_of_another_container_stay(self) -> None:
        """It shares /tmp, and its processes have numbers that nobody has here."""
        with mock.patch.object(os, "getpid", return_value=999_999_999):
            around = launch.around(Request(argv=(), slot=0), Tier.UID)
            _, folder, _ = around.__enter__()
        self.addCleanup(around.__exit__, None, None, None)
        launch.sweep()
        self.assertTrue(folder.is_dir())


if __name__ == "__main__":
    unittest.main()
