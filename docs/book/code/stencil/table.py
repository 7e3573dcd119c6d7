# SPDX-License-Identifier: MIT
"""The stencil's versions as a table: how many times faster than one GPU.

python3 stencil/table.py [WIDTH HEIGHT STEPS]
"""

import os
import re
import subprocess
import sys

VERSIONS = ("host", "copies", "peer", "nccl", "overlap", "graph", "ipc")
GPUS = (1, 2, 4, 8)
size = sys.argv[1:4] or ["2048", "2048", "10"]


def microseconds(version: str, gpus: int) -> float:
    """Of one step of a version."""
    command = [f"./{version}", str(gpus), *size]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = re.search(r"([\d.]+) us a step", done.stdout)
    return float(found[1]) if found else float("nan")


os.environ.setdefault("VGPU_NODE", "dgx-a100")  # it has eight GPUs
for version in ("one", *VERSIONS):
    build = ["vgpu-cc", "-o", version, f"stencil/{version}.cu"]
    subprocess.run([*build, "-lnccl"] if version == "nccl" else build, check=True)
one = microseconds("one", 1)
print(f"{size[0]} x {size[1]}, one GPU: {one:.1f} us a step")
print("GPUs   " + "".join(f"{gpus:8}" for gpus in GPUS))
for version in VERSIONS:
    times = [microseconds(version, gpus) for gpus in GPUS]
    print(f"{version:7}" + "".join(f"{one / time:8.2f}" for time in times))
