# SPDX-License-Identifier: MIT
"""Runs one of these programs on a virtual node; its tests are started as TEST.py FOLDER, where the
programs lie in FOLDER."""

import os
import pathlib
import subprocess
import sys

BIN = pathlib.Path(sys.argv[1])
RECORDED = pathlib.Path(__file__).parent.parent / "recorded" / "hgx-h200-4"
NODES = (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8))  # with their GPUs
PEERS = (("single", 1), ("textbook-a100-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8))
COUNT = 0


def run(
    program: str, *arguments: str, node: str = "hgx-h200-4", **more: str
) -> subprocess.CompletedProcess[str]:
    global COUNT
    COUNT += 1
    environment = dict(
        os.environ, VGPU_NODE=node, VGPU_NODE_ID=f"programs-{os.getpid()}-{COUNT}", **more
    )
    return subprocess.run(
        [BIN / f"program-{program}", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
