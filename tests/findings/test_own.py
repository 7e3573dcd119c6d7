# SPDX-License-Identifier: MIT
"""Nothing is found in the programs that this project shows: the labs' companions and the benches.

test_own.py BIN TESTS_BIN. The labs' solutions are held to it by their own tests, where a finding
fails. Those that take a minute with all detectors are left to PEERLAB_FULL=1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

BIN, TESTS_BIN = Path(sys.argv[1]), Path(sys.argv[2])
CHECKS = "order,api,kernels,leaks"
COMPANIONS = (
    "solution01-inventory",
    "solution02-peers",
    "solution03-matrix",
    "solution05-around 3",
    "solution06-shares",
    "solution08-stages",
)
BENCHES = ("truth-ipc",)
SLOW = (
    "solution04-scaling",
    "solution07-allreduce",
    "truth-copies",
    "truth-reduction",
    "truth-ring",
    "truth-stencil",
)
# It leaves peer access on: another group of the process may rely on it.
ALL_REDUCE = "allreduce-check --gpus 3 --calls 12 --most 262144 --way any"


class Own(unittest.TestCase):
    def nothing_found(self, command: str, checks: str = CHECKS) -> None:
        name, *more = command.split()
        program = (BIN if name.startswith("solution") else TESTS_BIN) / name
        with self.subTest(command):
            done = subprocess.run(
                [BIN / "vgpu-check", f"--checks={checks}", program, *more],
                env=os.environ | {"VGPU_NODE": "hgx-h200-4"},
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("vgpu-check: 0 findings", done.stderr)

    def test_companions(self) -> None:
        for command in COMPANIONS:
            self.nothing_found(command)

    def test_benches(self) -> None:
        for command in BENCHES:
            self.nothing_found(command)
        self.nothing_found(ALL_REDUCE, "order,api,kernels")

    @unittest.skipUnless(os.environ.get("PEERLAB_FULL"), "PEERLAB_FULL=1 runs what takes minutes")
    def test_those_that_take_long(self) -> None:
        for command in SLOW:
            self.nothing_found(command)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
