# SPDX-License-Identifier: MIT
"""Chapter 14's table beside the profiler: ranges.py BIN, with the folder of vgpu-cc.

The first column is what Nsight Systems recorded, the second one what the virtual node's trace says
of the same program, of which it runs two steps of each kind.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BIN = Path(sys.argv[1])
ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "docs" / "book" / "14-profiling.md"
PROGRAM = ROOT / "docs" / "book" / "real" / "ranges.cu"
RECORDED = ROOT / "tests" / "recorded" / "hgx-h200-2" / "nsys.txt"
STEPS = "#define STEPS 20\n"  # each takes as long as any other

sys.path.insert(0, str(ROOT))

from grader.book import algorithms  # noqa: E402 (found by the path given)

# What the table calls it; how nsys' line of it ends; its category and name in a trace.
ROWS = (
    ('range "one after the other"', "PushPop  one after the other", "range", "one after the other"),
    ('range "all at once"', "PushPop  all at once", "range", "all at once"),
    ('… range "start"', "PushPop  start", "range", "start"),
    ('… range "wait"', "PushPop  wait", "range", "wait"),
    ("kernel `scale`", "scale(float *, unsigned long, float)", "kernel", "scale"),
    ("copy to the other GPU", "[CUDA memcpy Peer-to-Peer]", "copy", "cudaMemcpyPeerAsync"),
    ("call of `cudaLaunchKernel`", "cudaLaunchKernel", "host", "cudaLaunchKernel"),
    ("call of `cudaMemcpyPeerAsync`", "cudaMemcpyPeerAsync", "host", "cudaMemcpyPeerAsync"),
)


def nsys_us(ending: str) -> float:
    """The median of the first line that ends so."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.endswith(ending) and line[:9].strip())
    return float(line.split()[4].replace(",", "")) / 1e3


def traced(folder: str) -> list[dict]:
    source, trace = Path(folder, "ranges.cu"), Path(folder, "trace.json")
    text = PROGRAM.read_text(encoding="utf-8")
    assert text.count(STEPS) == 1
    source.write_text(text.replace(STEPS, STEPS.replace("20", "1")), encoding="utf-8")
    program = source.with_suffix("")
    subprocess.run([BIN / "vgpu-cc", "-o", program, source], check=True, timeout=120)
    more = {"VGPU_NODE": "hgx-h200-4", "CUDA_VISIBLE_DEVICES": "0,1", "VGPU_TRACE": str(trace)}
    more["VGPU_NODE_ID"] = f"book-ranges-{os.getpid()}"
    subprocess.run(
        [program], env=os.environ | more, check=True, timeout=800, stdout=subprocess.DEVNULL
    )
    return json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        text = CHAPTER.read_text(encoding="utf-8").split("<!-- ranges -->\n")[1].split("\n\n")[0]
        rows = re.findall(r"^\| (\S.*?) \| ([0-9.]+) \| ([0-9.]+) \|$", text, re.MULTILINE)
        cls.shown = {name: (float(real), float(ours)) for name, real, ours in rows}

    def test_the_rows(self) -> None:
        self.assertEqual(list(self.shown), [name for name, *_ in ROWS])

    def test_the_profiler_said_so(self) -> None:
        for name, ending, *_ in ROWS:
            self.assertAlmostEqual(self.shown[name][0], nsys_us(ending), delta=0.0501, msg=name)

    def test_the_trace_says_so(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            events = traced(folder)
        for name, _, kind, called in ROWS:
            found = [e["dur"] for e in events if (e.get("cat"), e["name"]) == (kind, called)]
            self.assertAlmostEqual(
                self.shown[name][1], statistics.median_low(found), delta=0.0501, msg=name
            )

    def test_the_chart_draws_it(self) -> None:
        kernels, copies = self.shown["kernel `scale`"], self.shown["copy to the other GPU"]
        drawn = list(algorithms.RANGES.values())
        wanted = [(round(k, 0), round(c, 0)) for k, c in zip(kernels, copies, strict=True)]
        self.assertEqual([(round(k * 1e3), round(c * 1e3)) for k, c in drawn], wanted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
