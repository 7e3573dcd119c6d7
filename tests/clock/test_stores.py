# SPDX-License-Identifier: MIT
"""A host store to pinned memory that a kernel polls carries the time of the host's last call:
test_stores.py PROGRAM, where PROGRAM is stores.cu. As it is, on one processor, and with
PEERLAB_FULL=1 on a busy machine."""

import os
import subprocess
import sys
import unittest

from test_repeat import FULL, busy, one_processor

PROGRAM = sys.argv[1]
KERNEL_PS = 3_200_000  # it starts, uses memory, and does next to nothing
RUNS = 10 if FULL else 4


def run(case: str) -> tuple[int, int]:
    """The host's clock when it stored, and when the kernel was over."""
    more = {"VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"stores-{os.getpid()}"}
    done = subprocess.run(
        [PROGRAM, case],
        env=os.environ | more,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert not done.stderr, done.stderr
    stored, over = (int(line.split()[1]) for line in done.stdout.splitlines())
    return stored, over


class Stores(unittest.TestCase):
    def test_the_kernel_goes_on_when_the_host_stored(self) -> None:
        took = set()
        for case in ("plain", "asks", "late", "thread", "worker"):
            stored, over = run(case)
            self.assertGreaterEqual(over - stored, KERNEL_PS, case)
            self.assertLess(over - stored, 2 * KERNEL_PS, case)
            took.add(over - stored)
        self.assertEqual(len(took), 1, took)

    def test_not_when_it_asked_for_the_kernel(self) -> None:
        """72 us pass between the store and the wait: the kernel is over by then."""
        stored, over = run("calls")
        self.assertGreater(over - stored, 60_000_000)
        self.assertLess(over - stored, 90_000_000)

    def test_computing_costs_nothing(self) -> None:
        self.assertEqual(run("plain"), run("late"))

    def again(self) -> None:
        for case in ("plain", "asks", "late", "calls", "thread", "worker"):
            self.assertEqual(len({run(case) for _ in range(RUNS)}), 1, case)

    def test_the_same_in_every_run(self) -> None:
        self.again()

    def test_busy(self) -> None:
        with busy():
            self.again()

    def test_one_processor(self) -> None:
        with one_processor():
            self.again()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
