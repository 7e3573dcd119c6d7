# SPDX-License-Identifier: MIT
"""The source material's two worked examples, measured: test_examples.py PROGRAM NODES.

Prints what the source says, what was measured, and what is honest. With PEERLAB_FULL=1 example B
runs at full size, too: 2^30 floats on a node whose rates are not scaled.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, NODES = sys.argv[1], pathlib.Path(sys.argv[2])
GB, FULL_FLOATS, FULL_MEMORY = 1e9, 1 << 30, 9 << 30


def run(node: str, *words: str) -> dict[str, float]:
    name = f"{node.rpartition('/')[2]}-{os.getpid()}"
    environment = dict(os.environ, VGPU_NODE=node, VGPU_NODE_ID=name)
    done = subprocess.run(
        [PROGRAM, *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def unscaled(folder: str) -> str:
    """textbook-4 with the source's own rates; its 1 ms for the gathering stays 1 ms."""
    node = json.loads((NODES / "textbook-4.json").read_text())
    node["memory_gbs"] *= 256
    for section in ("nvlink", "pcie", "sockets"):
        for key in ("gbs", "port_gbs"):
            if key in node[section]:
                node[section][key] *= 256
    for path in node["copies"].values():
        path["gbs"] *= 256
    pathlib.Path(folder, "parts").symlink_to(NODES / "parts")
    path = pathlib.Path(folder, "textbook-4-full.json")
    path.write_text(json.dumps(node))
    return str(path)


class Examples(unittest.TestCase):
    def near(self, what: str, measured: float, expected: float, within: float = 0.01) -> None:
        print(f"{what:<58}{measured:>10.3f}{expected:>10.3f}")
        self.assertLess(abs(measured / expected - 1), within, what)

    def test_a(self) -> None:
        print(f"\n{'example A: 1 GB from GPU to GPU':<58}{'measured':>10}{'expected':>10}")
        ms = run("textbook-a100-2", "A")
        self.near(
            "NVLink 3, half of it each way at once (the source: 1.67)",
            ms["A.nvlink_both_ways_ms"],
            1.67,
        )
        self.near(
            "through the host, hop after hop (the source: 62.5)",
            ms["A.host_one_hop_after_the_other_ms"],
            62.5,
        )
        self.near("the same, by the driver", ms["A.driver_through_host_ms"], 62.5)
        self.near("honest: NVLink 3, one way", ms["A.nvlink_one_way_ms"], GB / 300e9 * 1e3)
        self.near(
            "honest: through the host, pipelined by 16 MB",
            ms["A.host_pipelined_ms"],
            (GB + 16e6) / 32e9 * 1e3,
        )
        ratio = ms["A.host_pipelined_ms"] / ms["A.nvlink_one_way_ms"]
        self.near("honest: NVLink is so many times faster", ratio, 9.5, 0.02)

    def test_b(self) -> None:
        print(f"\n{'example B: the sum of 1 G floats, rates and floats by 256':<58}")
        self.check_b(run("textbook-4", "B"))

    def check_b(self, ms: dict[str, float]) -> None:
        billion = FULL_FLOATS / 1e9  # the source counts 1 G as 10^9: 20 ms, 5 + 1
        self.near("one GPU, ms (the source: 20)", ms["B.one_gpu_ms"], 20 * billion)
        self.near("four GPUs, ms (the source: 5 + 1)", ms["B.four_gpus_ms"], 6 * billion)
        self.near("faster by (the source: 3.33)", ms["B.speedup"], 3.33)

    def test_b_at_full_size(self) -> None:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if os.environ.get("PEERLAB_FULL") != "1":
            return
        self.assertGreater(free, FULL_MEMORY, "the full size needs 9 GiB of memory")
        with tempfile.TemporaryDirectory() as folder:
            print(f"\n{'example B: the sum of 1 G floats':<58}")
            self.check_b(run(unscaled(folder), "B", str(FULL_FLOATS)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
