# SPDX-License-Identifier: MIT
"""Structs that kernels copy as a whole are counted, also where a compiler leaves a memcpy:
test_structs.py VGPU_CC SOURCE, where SOURCE is structs.cu. By each compiler that is installed."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from marks import compilers, plus_of

VGPU_CC, SOURCE = sys.argv[1:3]
COUNT = 256


def bytes_of_kernels(compiler: str, folder: str) -> tuple[list[int], list[int]]:
    """Sizes of the structs, and bytes that the kernels moved."""
    program, trace = Path(folder, f"structs-{compiler}"), Path(folder, f"{compiler}.json")
    words = [VGPU_CC, "-ccbin", plus_of(compiler), "-o", str(program), SOURCE]
    subprocess.run(words, check=True, timeout=300)
    more = {"VGPU_NODE_ID": f"structs-{os.getpid()}", "VGPU_TRACE": str(trace)}
    done = subprocess.run(
        [program], env=os.environ | more, capture_output=True, text=True, timeout=120, check=True
    )
    events = json.loads(trace.read_text())["traceEvents"]
    kernels = [e["args"]["bytes"] for e in events if e.get("cat") == "kernel"]
    return [int(line) for line in done.stdout.split()], kernels


class Structs(unittest.TestCase):
    def test_all_bytes_count(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for compiler in compilers():
                sizes, moved = bytes_of_kernels(compiler, folder)
                want = [2 * COUNT * size for size in sizes for _ in range(2)]
                self.assertEqual(moved, want, compiler)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
