# SPDX-License-Identifier: MIT
"""Processes that synchronise by IPC events have the same times in every run: test_processes.py
PROGRAM, where PROGRAM is processes.cu. 10 runs, some on one processor; 1,000 with PEERLAB_FULL=1,
some on a busy machine."""

import os
import subprocess
import sys
import unittest

from test_repeat import RUNS, busy, one_processor

PROGRAM = sys.argv[1]


def run() -> str:
    more = {"VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"processes-{os.getpid()}"}
    done = subprocess.run(
        [PROGRAM],
        env=os.environ | more,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.first = run()

    def again(self, times: int) -> None:
        for number in range(times):
            self.assertEqual(run(), self.first, f"run {number}")

    def test_it_measures(self) -> None:
        """Both have six times; the second one waits for the first, which waits for it."""
        lines = [line.split() for line in self.first.splitlines()]
        self.assertEqual([line[0] for line in lines], ["0"] * 6 + ["1"] * 6)
        copy_ms = 16 * 2**20 / 400e9 * 1e3
        for line in lines[6:]:
            self.assertGreater(float(line[2]), copy_ms, line)

    def test_quiet(self) -> None:
        self.again(RUNS * 3 // 5)

    def test_busy(self) -> None:
        with busy():
            self.again(RUNS // 5)

    def test_one_processor(self) -> None:
        with one_processor():
            self.again(RUNS // 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
