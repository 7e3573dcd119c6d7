# SPDX-License-Identifier: MIT
"""What kernels move, in sectors of 32 bytes: test_sectors.py PROGRAM, where PROGRAM is sectors.cu.

The bytes are read off the trace's links.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv[1]
FLOATS = 1 << 20
BYTES = 4 * FLOATS  # that a kernel uses
BLOCKS = FLOATS // 256


def moved(kind: str) -> dict[str, float]:
    """Bytes by link."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        more = {"VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"sectors-{os.getpid()}"}
        environment = os.environ | more | {"VGPU_TRACE": str(path)}
        subprocess.run([PROGRAM, kind], env=environment, timeout=60, check=True)
        trace = json.loads(path.read_text())
    kernels = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] == "kernel"]
    assert len(kernels) == 1, kernels
    return {link["name"]: link["bytes"] for link in trace["otherData"]["links"]} | {
        "counted": kernels[0]["args"]["bytes"],
        "us": kernels[0]["dur"],
    }


class Sectors(unittest.TestCase):
    def own(self, kind: str, expected: int, counted: int = 2 * BYTES) -> None:
        found = moved(kind)
        self.assertEqual(found["GPU0 memory"], expected, kind)
        self.assertEqual(found["counted"], counted, kind)  # what it uses never changes

    def test_neighbours_share_sectors(self) -> None:
        self.own("stride_1", BYTES + BYTES)

    def test_strides(self) -> None:
        for stride in (2, 4, 8):
            self.own(f"stride_{stride}", BYTES + stride * BYTES)
        self.own("stride_32", BYTES + 8 * BYTES)  # a sector for each float

    def test_misaligned(self) -> None:
        """256 floats of a block lie in 33 sectors instead of 32."""
        self.own("shift_1", BYTES + BYTES * 33 // 32)

    def test_one_for_all(self) -> None:
        self.own("broadcast", BYTES + BLOCKS * 32)

    def test_one_after_the_other(self) -> None:
        """A thread that reads on in a sector has it already."""
        self.own("chunks_16", BYTES + BYTES)

    def test_stores(self) -> None:
        self.own("scatter_4", BYTES + 4 * BYTES)

    def test_read_again(self) -> None:
        self.own("again", BYTES + BYTES, 3 * BYTES)

    def test_over_the_link(self) -> None:
        found = moved("peer_stride_8")
        self.assertEqual(found["GPU0 NVLink in"], 8 * BYTES)
        self.assertEqual(found["GPU0 memory"], BYTES)
        self.assertEqual(moved("peer_stride_1")["GPU0 NVLink in"], BYTES)

    def test_what_blocks_share_comes_from_l2(self) -> None:
        """32 blocks read 1 MiB each: from memory once, and each as slowly as a block alone."""
        array, blocks = 1 << 20, 32
        found = moved(f"everybody_{array // 4}_{blocks}")
        self.assertEqual(found["GPU0 memory"], array)
        self.assertEqual(found["counted"], blocks * array)
        # bench/truth/rounds/01-measured-h200.csv: kernel.one_block, less 5.5 us for the launch
        self.assertAlmostEqual(found["us"] / 165, 1, delta=0.1)

    def test_what_does_not_fit_does_not(self) -> None:
        array = 40 << 20  # more than half of 60 MiB
        self.assertEqual(moved(f"everybody_{array // 4}_2")["GPU0 memory"], 2 * array)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
