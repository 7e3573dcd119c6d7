# SPDX-License-Identifier: MIT
"""Correct programs: nothing is found in any of them (advice is no finding), and their numbers are
right, on 2 and 4 GPUs and whatever order the programming model leaves open.

    test_correct.py BIN FOLDER
"""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

BIN, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
GPUS = {2: "0,1", 4: "0,1,2,3"}
SEEDS = ("1", "2", "3")
LEFT_OUT = 77
LEAST = 40  # programs, each of which orders its work in a way of its own


def run(name: str, devices: str, seed: str) -> subprocess.CompletedProcess[str]:
    """Runs a program on a node of its own, with all that is looked for."""
    environment = dict(
        os.environ,
        VGPU_NODE="hgx-h200-4",
        VGPU_NODE_ID=f"correct-{os.getpid()}-{name}",
        VGPU_CHECK="all",
        VGPU_SCHEDULE=seed,
        CUDA_VISIBLE_DEVICES=devices,
    )
    return subprocess.run(
        [BIN / "findings-correct", name],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class Correct(unittest.TestCase):
    """One test a program: made below."""

    def check(self, name: str) -> None:
        for count, devices in GPUS.items():
            for seed in SEEDS:
                with self.subTest(gpus=count, seed=seed):
                    done = run(name, devices, seed)
                    if done.returncode == LEFT_OUT:
                        self.skipTest("Clang's <omp.h> is not here (libomp-dev)")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    said = [line for line in done.stderr.splitlines() if "advice:" not in line]
                    self.assertEqual(said, [])

    def test_there_are_enough(self) -> None:
        self.assertGreaterEqual(len(PROGRAMS), LEAST)


PROGRAMS = sorted(source.stem for source in FOLDER.glob("*.cu"))
for program in PROGRAMS:
    setattr(Correct, f"test_{program}", lambda self, name=program: self.check(name))

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
