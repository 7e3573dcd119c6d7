# SPDX-License-Identifier: MIT
"""A program whose times depend on the operating system is told so: test_threads.py PROGRAM, where
PROGRAM is threads.cu."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv[1]


def said(*how: str, traced: bool = True) -> str:
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, VGPU_NODE="hgx-h200-4", VGPU_NODE_ID=f"os-{os.getpid()}")
        environment.pop("VGPU_TRACE", None)
        if traced:
            environment["VGPU_TRACE"] = str(Path(folder, "trace.json"))
        done = subprocess.run(
            [PROGRAM, *how], env=environment, capture_output=True, text=True, timeout=60, check=True
        )
    return done.stderr


class Threads(unittest.TestCase):
    def test_threads_that_nothing_orders(self) -> None:
        text = said("free")
        self.assertIn("the times of this program depend on the operating system", text)
        self.assertIn("1 operations were issued after another host thread had waited", text)
        self.assertIn("(the first: cudaMemcpyAsync", text)
        self.assertNotIn("another program had", text)

    def test_threads_one_after_the_other(self) -> None:
        self.assertEqual(said("joined"), "")

    def test_only_who_looks_at_times_is_told(self) -> None:
        self.assertEqual(said("free", traced=False), "")
        text = said("free", "timed", traced=False)
        self.assertIn("the times of this program depend on the operating system", text)
        self.assertEqual(text.count("\n"), 1, text)

    def test_no_false_alarm(self) -> None:
        self.assertEqual(said("joined", "timed", traced=False), "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
