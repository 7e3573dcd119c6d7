# SPDX-License-Identifier: MIT
"""vgpu-check: the program's status, or another one where something was found; what it says.

test_vgpu_check.py VGPU_CHECK BIN
"""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

CHECK, BIN = Path(sys.argv[1]), Path(sys.argv[2])


def check(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([CHECK, *words], capture_output=True, text=True, timeout=120, check=False)


def last(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    """The status, and the last line of what was said."""
    return done.returncode, done.stderr.strip().rpartition("\n")[2]


class VgpuCheck(unittest.TestCase):
    def test_nothing_found(self) -> None:
        done = check(BIN / "findings-leaks", "near_memory")
        self.assertEqual(last(done), (0, "vgpu-check: 0 findings, 0 pieces of advice"))

    def test_a_finding_is_a_status(self) -> None:
        done = check(BIN / "findings-leaks", "bad_memory")
        self.assertEqual(last(done), (99, "vgpu-check: 1 finding, 0 pieces of advice"))
        self.assertIn("[leaks.memory; ./lab explain leaks.memory]", done.stderr)
        self.assertEqual(check("--found=7", BIN / "findings-leaks", "bad_memory").returncode, 7)

    def test_advice_is_none(self) -> None:
        done = check("--checks=advice", BIN / "findings-advice", "bad_wait_in_loop")
        self.assertEqual(last(done), (0, "vgpu-check: 0 findings, 1 piece of advice"))

    def test_only_what_is_asked_for(self) -> None:
        done = check("--checks=order,api", BIN / "findings-leaks", "bad_memory")
        self.assertEqual(last(done), (0, "vgpu-check: 0 findings, 0 pieces of advice"))

    def test_the_programs_own_status_goes_first(self) -> None:
        done = check("sh", "-c", f"{BIN}/findings-leaks bad_memory; exit 3")
        self.assertEqual(last(done), (3, "vgpu-check: 1 finding, 0 pieces of advice"))
        self.assertEqual(check("sh", "-c", "kill -9 $$").returncode, 128 + 9)

    def test_several_processes_are_one_program(self) -> None:
        done = check("sh", "-c", f"for i in 1 2; do {BIN}/findings-leaks bad_memory; done")
        self.assertEqual(last(done), (99, "vgpu-check: 2 findings, 0 pieces of advice"))

    def test_mistakes_of_its_own(self) -> None:
        self.assertEqual(check().returncode, 125)
        done = check("--checks=orders", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn('there is no check "orders"', done.stderr)
        self.assertEqual(check("/nowhere/program").returncode, 127)
        self.assertEqual(last(check("true")), (0, "vgpu-check: the program has made no CUDA call"))
        self.assertEqual(check("--help").returncode, 0)

    def test_a_word_that_is_none_is_told_to_any_program(self) -> None:
        environment = dict(os.environ, VGPU_CHECK="leaks,all of them")
        done = subprocess.run(
            [BIN / "findings-leaks", "bad_memory"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, 0)
        self.assertIn('"all of them" is not valid: expected some of order, api, leaks', done.stderr)
        self.assertNotIn("finding", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
