# SPDX-License-Identifier: MIT
"""Times the loading of a PTX module of 100 kernels.

compare.py [--tiny] [--rounds N] VGPU_CC BENCH_PTX

Printed are, of some rounds in which all take turns, the least wall seconds and the least processor
seconds; and the ratio to the peer, vgpu-cc's own time for the same 100 kernels as CUDA.
"""

import argparse
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "kernels.cu"
PTX = "-x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -S -w -O2"
FIRST, AGAIN, LAUNCH, NEXT = "load", "load, cached", "first launch", "first launch, cached"
WHOLE, PEER = "load, EAGER", "vgpu-cc, of CUDA"

Figures = tuple[float, float]  # wall seconds, processor seconds


def clang() -> str:
    found = os.environ.get("VGPU_CLANG") or shutil.which("clang++")
    if not found:
        sys.exit("the bench makes its PTX with clang++, which is not here")
    return found


def make_ptx(folder: pathlib.Path, options: list[str]) -> tuple[pathlib.Path, list[str]]:
    """The module, and its kernels' names."""
    made = folder / "kernels.ptx"
    subprocess.run([clang(), *PTX.split(), *options, SOURCE, "-o", made], check=True)
    return made, re.findall(r"\.entry (\w+)", made.read_text())


def run_children(command: list[str], **more: str) -> tuple[Figures, str]:
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = dict(os.environ, VGPU_NODE="single", **more)
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (time.monotonic() - begun, used), done.stdout


def loaded(program: str, words: list[str], **more: str) -> list[Figures]:
    """Of the load, and of each launch."""
    _, said = run_children([program, *words], **more)
    rows = [line.split("\t") for line in said.splitlines()]
    return [(float(wall), float(processor)) for _, wall, processor in rows]


def one_round(peer: list[str], program: str, cache: pathlib.Path, module: str, kernel: str) -> dict:
    shutil.rmtree(cache, ignore_errors=True)
    found: dict[str, Figures] = {}
    words, kept = [module, kernel], {"CUDA_CACHE_PATH": str(cache)}
    found[FIRST], found[LAUNCH] = loaded(program, words, **kept)
    found[AGAIN], found[NEXT] = loaded(program, words, **kept)
    eager = {"CUDA_CACHE_DISABLE": "1", "CUDA_MODULE_LOADING": "EAGER"}
    (found[WHOLE],) = loaded(program, [module], **eager)
    found[PEER], _ = run_children(peer)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="ten kernels")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("vgpu_cc")
    parser.add_argument("program")
    asked = parser.parse_args()
    least: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        options = ["-DTINY"] if asked.tiny else []
        module, kernels = make_ptx(folder, options)
        peer = [asked.vgpu_cc, "-fatbin", *options, "-o", str(folder / "peer"), str(SOURCE)]
        for number in range(asked.rounds):
            kernel = kernels[number * 7 % len(kernels)]
            found = one_round(peer, asked.program, folder / "cache", str(module), kernel)
            for what, (wall, processor) in found.items():
                before = least.get(what, (math.inf, math.inf))
                least[what] = (min(before[0], wall), min(before[1], processor))
    print(f"{len(kernels):>3} kernels of PTX      {'wall s':>9}{'CPU s':>9}{'CPU by ' + PEER:>26}")
    for what, (wall, processor) in least.items():
        print(f"{what:24}{wall:9.3f}{processor:9.3f}{processor / least[PEER][1]:26.3f}")


if __name__ == "__main__":
    main()
