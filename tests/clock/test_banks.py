# SPDX-License-Identifier: MIT
"""What conflicts in shared memory's banks cost: test_banks.py PROGRAM, where PROGRAM is banks.cu.

What stride S takes longer than stride 1 is compared with what it took longer on an H200
(../recorded/hgx-h200-4/banks.txt): how long an access without conflicts takes is not modelled.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv[1]
RECORDED = Path(__file__).parent.parent / "recorded/hgx-h200-4/banks.txt"
ROUNDS = {"load": 1024, "store": 1024, "atomicAdd": 256}  # of the recorded kernels
OUR_ROUNDS = 16
BLOCKS = 264  # two a processor


def recorded() -> dict[tuple[str, int], float]:
    """Milliseconds a round, by what the lanes did and how far apart."""
    line = re.compile(r"(load|store|atomicAdd) threads 1024 stride (\d+): .* ([\d.]+) ms")
    found = [m for m in map(line.fullmatch, RECORDED.read_text().splitlines()) if m]
    return {(m[1], int(m[2])): float(m[3]) / ROUNDS[m[1]] for m in found}


def ours(kind: str, stride: int, blocks: int = BLOCKS, **more: str) -> float:
    """The same of the virtual node."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        environment = os.environ | {"VGPU_NODE": "hgx-h200-4", "VGPU_QUIET": "1"} | more
        environment |= {"VGPU_NODE_ID": f"banks-{os.getpid()}", "VGPU_TRACE": str(path)}
        words = [PROGRAM, kind, str(stride), str(blocks)]
        subprocess.run(words, env=environment, timeout=120, check=True)
        events = json.loads(path.read_text())["traceEvents"]
    (kernel,) = (e for e in events if e["ph"] == "X" and e["cat"] == "kernel")
    return kernel["dur"] / 1000 / OUR_ROUNDS


class Banks(unittest.TestCase):
    def test_as_recorded(self) -> None:
        said = recorded()
        self.assertEqual(len(said), 27)
        for kind in ROUNDS:
            alone = ours(kind, 1)
            for stride in (2, 4, 8, 16, 32):
                ratio = (ours(kind, stride) - alone) / (said[kind, stride] - said[kind, 1])
                print(f"{kind} stride {stride}: {ratio:.3f} of the recorded difference")
                self.assertAlmostEqual(ratio, 1, delta=0.01, msg=f"{kind} {stride}")

    def test_what_does_not_conflict_is_free(self) -> None:
        for kind in ROUNDS:
            alone = ours(kind, 1)
            for stride in (0, 3, 33):
                self.assertEqual(ours(kind, stride), alone, f"{kind} {stride}")

    def test_processors_share_the_blocks(self) -> None:
        """132 blocks have a processor each, as one has; 133 do not."""
        one, all_, more = (ours("load", 32, n) - ours("load", 1, n) for n in (1, 132, 133))
        self.assertAlmostEqual(one, all_, delta=one / 1000)
        self.assertAlmostEqual(more, 2 * one, delta=one / 1000)

    def test_by_several_processes(self) -> None:
        """Whoever runs the blocks, all of their accesses count."""
        alone = ours("store", 32, VGPU_WORKERS="1")
        self.assertEqual(ours("store", 32, VGPU_WORKERS="2"), alone)

    def test_a_slow_clock(self) -> None:
        usual = ours("load", 32) - ours("load", 1)
        slow = {"VGPU_FAULT": "clock:0=0.5"}
        self.assertAlmostEqual(
            ours("load", 32, **slow) - ours("load", 1, **slow), 2 * usual, delta=usual / 100
        )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
