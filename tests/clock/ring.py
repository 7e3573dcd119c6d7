# SPDX-License-Identifier: MIT
"""The ring of lab 07 on the virtual clock and on 4 H200s: ring.py PROGRAM RECORDED README [BITS].

PROGRAM is the lab's `allreduce`, RECORDED the folder with ring.txt and edges.txt, README the lab's,
whose table for the virtual node must be what PROGRAM prints. What the clock leaves out (waiting for
another GPU, launching a graph over several) is added from edges.txt; the sums must then be near
the recorded times. BITS: log2 of the most bytes; 28 takes minutes.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

WAYS = ("naive", "calls", "ring", "pipelined", "one shot")
SIZES = {"1 MiB": 1 << 20, "16 MiB": 1 << 24, "256 MiB": 1 << 28}
NEAR = {"1 MiB": 0.10, "16 MiB": 0.15, "256 MiB": 0.10}
GPUS, STEPS, SLICES = 4, 3, 2

Times = dict[int, dict[str, float]]  # bytes, way: microseconds


def table(text: str) -> Times:
    rows: Times = {}
    for line in text.splitlines():
        if re.match(r" +\d+ +[\d.]+ ", line):
            size, *rest = line.replace("too large", "nan nan").split()
            rows[int(size)] = dict(zip(WAYS, map(float, rest[::2]), strict=True))
    return rows


def edges(text: str) -> dict[str, float]:
    """What waiting costs beside what the operations themselves do, in a graph."""
    hop = {
        (where.strip(), what.strip()): float(us)
        for where, what, us in re.findall(r"^graph +(.{12}) (.{12}) +([\d.]+) us a", text, re.M)
    }
    single = (hop["one stream", "kernels"] + hop["one stream", "peer copies"]) / 2
    return {
        "copy_to_copy": hop["two GPUs", "peer copies"] - hop["one stream", "peer copies"],
        "copy_to_kernel": hop["two GPUs", "copy, kernel"] - single,
        "kernel_to_copy": hop["one stream", "copy, kernel"] - single,
        "launch": float(re.search(rf"graph of {GPUS} GPUs, 1 kernels each ([\d.]+)", text)[1]),
    }


def explained(way: str, modelled: float, cost: dict[str, float], signal: float) -> float:
    """Either the GPUs take longest, waiting for each other, or the launching of the graph does:
    `signal` for each node that another GPU waits for."""
    slices = SLICES if way == "pipelined" else 1
    signals = slices * (2 * STEPS * GPUS + GPUS)
    waits = STEPS * (cost["copy_to_kernel"] + cost["kernel_to_copy"] + cost["copy_to_copy"])
    running = modelled + waits + cost["launch"] + GPUS * signal
    last_hop = modelled / (2 * STEPS * slices) + cost["copy_to_copy"]
    return max(running, cost["launch"] + signals * signal + last_hop)


def run(program: str, bits: str) -> Times:
    env = {**os.environ, "VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"ring-{os.getpid()}"}
    done = subprocess.run(
        [program, str(GPUS), bits], env=env, capture_output=True, text=True, timeout=1500
    )
    if done.returncode:
        sys.exit(done.stderr)
    return table(done.stdout)


def differences(readme: Times, modelled: Times) -> list[str]:
    """Rows of the README that came out otherwise; two columns depend on the most bytes, too."""
    ways = ("calls", "ring", "pipelined")
    return [
        f"README, {size} bytes, {way}: {readme[size][way]}, now {modelled[size][way]}"
        for size in readme
        for way in ways
        if size in modelled and readme[size][way] != modelled[size][way]
    ]


def main() -> int:
    program, recorded_dir, readme_path, *rest = sys.argv[1:]
    recorded = table((Path(recorded_dir) / "ring.txt").read_text().split("## 2 GPUs")[0])
    cost = edges((Path(recorded_dir) / "edges.txt").read_text())
    signal = (recorded[1 << 10]["pipelined"] - cost["launch"]) / (SLICES * 28)
    readme = Path(readme_path).read_text().split("$ allreduce 4 28")[0]
    modelled = run(program, rest[0] if rest else "24")
    wrong = differences(table(readme), modelled)
    if not table(readme):
        wrong.append("README: there is no table in it")
    print("bytes     way        modelled  explained   recorded    error")
    for name, size in SIZES.items():
        for way in ("ring", "pipelined"):
            if size not in modelled:
                continue
            model, real = modelled[size][way], recorded[size][way]
            sum_us = explained(way, model, cost, signal)
            error = sum_us / real - 1
            print(f"{name:8} {way:10} {model:9.1f}  {sum_us:9.1f}  {real:9.1f}  {error:+7.1%}")
            if abs(error) > NEAR[name]:
                wrong.append(f"{name} {way}: {sum_us:.1f} us, recorded {real:.1f}")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
