# SPDX-License-Identifier: MIT
"""VGPU_COLD=1: what is done for the first time takes as much longer as the node's description
says, and nothing else does: test_cold.py PROGRAM NODES, where PROGRAM is cold.cu."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAM, NODES = sys.argv[1], Path(sys.argv[2])
COLD = json.loads((NODES / "hgx-h200-4.json").read_text())["cold"]
SECOND = ("launch", "pair", "pool")  # done a second time, which is not cold


def run(cold: str) -> list[tuple[str, float]]:
    more = {"VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"cold-{os.getpid()}", "VGPU_COLD": cold}
    done = subprocess.run(
        [PROGRAM], env=os.environ | more, capture_output=True, text=True, timeout=120, check=True
    )
    return [(name, float(us)) for name, us in map(str.split, done.stdout.splitlines())]


class Cold(unittest.TestCase):
    def test_only_first_times_cost_more(self) -> None:
        seen: set[str] = set()
        for (name, warm), (same, cold) in zip(run("0"), run("1"), strict=True):
            self.assertEqual(name, same)
            more = 0 if name in seen and name in SECOND else COLD[f"{name}_us"]
            self.assertAlmostEqual(cold - warm, more, delta=0.2, msg=name)
            seen.add(name)
        self.assertEqual(seen, {name.removesuffix("_us") for name in COLD})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
