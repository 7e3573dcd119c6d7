# SPDX-License-Identifier: MIT
"""The report of what is exact, modelled, approximated and not modelled: each feature is in it where
it was used, and nowhere else.

test_report.py BIN
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BIN = Path(sys.argv[1])
SOURCE = Path(__file__).with_name("report.cu")
ROW = re.compile(r"^  (exact|modelled|approximated|not modelled) +([^:]+): (.+)$", re.MULTILINE)
# What any program with a kernel and a memset has.
PLAIN = {"kernels", "copies and memsets", "time of kernels", "time of copies"}
WORDS = {
    "managed": {"managed memory"},
    "time": {"clocks", "streams, events and graphs"},
    "nccl": {"NCCL"},
    "hint": {"hints and preferences"},
    "profiler": {"profiler control"},
    "occupancy": {"occupancy"},
    "error": {"error codes"},
    "refused": {"refused calls"},
}
DEVICE_CODE = {"textures and surfaces", "mathematical functions", "atomics and fences", "clocks"}
DEVICE_CODE |= {"matrix products (wmma)", "sums of products"}


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    node = {"VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"report-{os.getpid()}"}
    return subprocess.run(
        words,
        env=os.environ | node | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def titles(done: subprocess.CompletedProcess[str]) -> set[str]:
    return {title for _, title, _ in ROW.findall(done.stderr)}


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.program, cls.device = Path(folder, "report"), Path(folder, "device")
        build = (BIN / "vgpu-cc", "-std=c++17", SOURCE, "-lnccl")
        run(*build, "-o", cls.program)
        run(*build, "-DDEVICE_CODE", "-o", cls.device)

    def test_nothing_unasked(self) -> None:
        self.assertEqual(run(self.program, "time").stderr, "")

    def test_what_each_call_uses(self) -> None:
        self.assertEqual(titles(run(self.program, VGPU_REPORT="1")), PLAIN)
        for word, more in WORDS.items():
            with self.subTest(word):
                found = titles(run(self.program, word, VGPU_REPORT="1"))
                if word == "nccl":  # it uses more of CUDA
                    self.assertLessEqual(PLAIN | more, found)
                else:
                    self.assertEqual(found, PLAIN | more)

    def test_what_device_code_uses(self) -> None:
        self.assertEqual(titles(run(self.device, VGPU_REPORT="1")), PLAIN | DEVICE_CODE)

    def test_vgpu_check_has_it_once_for_all_processes(self) -> None:
        script = f"{self.program} managed; {self.program} hint"
        done = run(BIN / "vgpu-check", "sh", "-c", script)
        self.assertEqual(titles(done), PLAIN | WORDS["managed"] | WORDS["hint"])
        self.assertEqual(done.stderr.count("managed memory:"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
