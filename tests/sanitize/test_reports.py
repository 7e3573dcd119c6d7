# SPDX-License-Identifier: MIT
"""A mistake in any process of a test fails the test, also where nobody would see it.

test_reports.py SOURCES BIN. The programs are asked to make one while they end (sanitizer_proof.c):
the node then has no terminal and no client any more, and its program has ended well.
"""

import os
import subprocess
import sys
import unittest

SOURCES, BIN = sys.argv.pop(1), sys.argv.pop(1)
REPORTED = 86


def run(proof: str) -> subprocess.CompletedProcess:
    """A program on a node of its own, as ctest starts it."""
    own = {"PEERLAB_SANITIZER_PROOF": proof} if proof else {}
    return subprocess.run(
        [sys.executable, "-I", "-S", f"{SOURCES}/harness/cmake/sanitized.py", f"{BIN}/vgpu-smi"],
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class Reports(unittest.TestCase):
    """sanitized.py on a program that does well, and on one that does not."""

    def test_nothing_to_report(self) -> None:
        done = run("")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("sanitized:", done.stderr)

    def reported(self, proof: str, words: str) -> None:
        done = run(proof)
        self.assertEqual(done.returncode, REPORTED, f"{proof}: {done.stderr}")
        self.assertIn(words, done.stderr)
        self.assertIn("sanitizer_proof.c", done.stderr)
        self.assertIn("sanitized: 1 reports", done.stderr)

    def test_program(self) -> None:
        self.reported("vgpu-smi=address", "heap-use-after-free")
        self.reported("vgpu-smi=undefined", "__ubsan_handle_add_overflow")

    def test_node(self) -> None:
        self.reported("vgpu-node=address", "heap-use-after-free")
        self.reported("vgpu-node=undefined", "__ubsan_handle_add_overflow")


if __name__ == "__main__":
    unittest.main()
