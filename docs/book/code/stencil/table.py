# SPDX-License-Identifier: MIT
"""The stencil's versions as a table: how many times faster than one GPU.

python3 stencil/table.py [WIDTH HEIGHT STEPS]

A dash: neighbours have no peer access on this node, and the version needs it.
"""

import os
import re
import subprocess
import sys

VERSIONS = ("host", "copies", "peer", "nccl", "overlap", "graph", "ipc")
size = sys.argv[1:4] or ["2048", "2048", "10"]


def run(version: str, gpus: int) -> tuple[int, float]:
    """How many GPUs it used (0 uses all), and the microseconds of a step; 0: no peer access."""
    command = [f"./{version}", str(gpus), *size]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if found := re.match(r"(\d+) GPU.* ([\d.]+) us a step", done.stdout):
        return int(found[1]), float(found[2])
    if "peer access is not supported" not in done.stderr:
        sys.exit(done.stderr)
    return gpus, 0.0


os.environ.setdefault("VGPU_NODE", "dgx-a100")  # it has eight GPUs
for version in ("one", *VERSIONS):
    build = ["vgpu-cc", "-o", version, f"stencil/{version}.cu"]
    subprocess.run([*build, "-lnccl"] if version == "nccl" else build, check=True)
one = run("one", 1)[1]
most = run("host", 0)[0]
columns = [gpus for gpus in (1, 2, 4, 8) if gpus <= most]
print(f"{size[0]} x {size[1]}, one GPU: {one:.1f} us a step")
print("GPUs   " + "".join(f"{gpus:8}" for gpus in columns))
for version in VERSIONS:
    times = [run(version, gpus)[1] for gpus in columns]
    print(f"{version:7}" + "".join(f"{one / t:8.2f}" if t else f"{'-':>8}" for t in times))
