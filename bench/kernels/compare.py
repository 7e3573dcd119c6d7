# SPDX-License-Identifier: MIT
"""Times kernels here, on HIP-CPU, on PoCL and compiled by nvcc.

compare.py [options] PROGRAM [KERNEL ...]

PROGRAM is programs.cu, compiled by vgpu-cc. The peers are compiled by this. For every kernel all
of them run in turn, some rounds; printed are the least seconds of a launch, and the least
processor seconds. All must compute the same.
"""

import argparse
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SEVEN = ("saxpy", "stencil", "tree", "histogram", "bodies", "product", "tiles")
KERNELS = (*SEVEN, "shuffles", "scan", "transposed", "sort", "pairs", "ring")
COMMIT = "e112c935057434897bb12d9ab3910380a8bd5f58"
HOW = {
    "HIP-CPU": "git clone https://github.com/ROCm/HIP-CPU DIR && "
    f"git -C DIR checkout {COMMIT}; apt install libtbb-dev; then --hip-cpu DIR",
    "PoCL": "apt install pocl-opencl-icd ocl-icd-opencl-dev opencl-headers",
    "nvcc": "the CUDA Toolkit; then --vgpu-run build/vgpu/bin/vgpu-run",
}
FAST, CAREFUL, UNCOUNTED = "here", "careful", "uncounted"
NEARLY = 1e-4  # sums may be formed in another order

Figures = tuple[float, float, float]  # wall seconds, processor seconds, sum of the output


def compiled(command: list[str | pathlib.Path], to: pathlib.Path) -> list[str] | None:
    done = subprocess.run([*command, "-o", to], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{to.name} does not compile: {done.stderr.strip()[:500]}", file=sys.stderr)
        return None
    return [str(to)]


def by_nvcc(vgpu_run: str, folder: pathlib.Path) -> list[str] | None:
    """PTX only, which the virtual node translates at the first launch."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    helper = compiled(
        ["gcc", "-c", "-O2", "-D_GNU_SOURCE", HERE.parent / "processes.c"], folder / "processes.o"
    )
    flags = ["-std=c++17", "-O2", "-w", "-cudart", "shared", f"-I{HERE.parent}"]
    flags += ["-gencode", "arch=compute_90,code=compute_90"]
    if not helper or not pathlib.Path(nvcc).exists():
        return None
    program = compiled([nvcc, *flags, HERE / "programs.cu", *helper], folder / "nvcc")
    return [vgpu_run, *program] if program else None


def without_counts(vgpu_cc: str, folder: pathlib.Path) -> list[str] | None:
    """The same program, whose fast form does not count accesses."""
    os.environ["VGPU_CC_UNCOUNTED"] = "1"
    source = [HERE / "programs.cu", HERE.parent / "processes.c"]
    program = compiled([vgpu_cc, "-O2", f"-I{HERE.parent}", *source], folder / "uncounted")
    del os.environ["VGPU_CC_UNCOUNTED"]
    return program


def find_peers(
    hip_cpu: str | None, vgpu_run: str | None, folder: pathlib.Path
) -> dict[str, list[str]]:
    """The commands of those that are here."""
    found: dict[str, list[str] | None] = {}
    if hip_cpu:
        flags = ["-std=c++17", "-O3", "-march=native", "-fopenmp-simd", "-w", "-DHIP_CPU"]
        source = ["-x", "c++", HERE / "programs.cu", "-x", "none", "-ltbb", "-lpthread"]
        include = f"-I{pathlib.Path(hip_cpu) / 'include'}"
        found["HIP-CPU"] = compiled(["g++", *flags, include, *source], folder / "hip-cpu")
    headers = any(
        pathlib.Path(p, "CL/cl.h").exists() for p in ("/usr/include", "/usr/local/include")
    )
    if headers:
        flags = ["-O2", "-w", "-D_GNU_SOURCE", f'-DSOURCE="{HERE / "kernels.cl"}"']
        found["PoCL"] = compiled(
            ["gcc", *flags, HERE / "opencl.c", "-lOpenCL", "-lm"], folder / "pocl"
        )
    if vgpu_run:
        found["nvcc"] = by_nvcc(vgpu_run, folder)
    return {name: command for name, command in found.items() if command}


def run(name: str, command: list[str], kernel: str) -> Figures | None:
    """None: the program does not run on this computer."""
    form = "careful" if name == CAREFUL else "fast"
    done = subprocess.run(
        [*command, kernel],
        env=dict(
            os.environ,
            VGPU_FORM=form,
            VGPU_NODE="hgx-h200-4",
            VGPU_NODE_ID=f"kernels-{os.getpid()}-{form}",
        ),
        capture_output=True,
        text=True,
    )
    for line in done.stdout.splitlines():
        if line.startswith(kernel + "\t"):
            wall, processor, written = (float(word) for word in line.split("\t")[1:])
            return wall, processor, written
    print(f"{name}: {kernel}: {done.stderr.strip()[:500]}", file=sys.stderr)
    return None


def measure(programs: dict[str, list[str]], kernel: str, rounds: int) -> dict[str, Figures]:
    least: dict[str, Figures] = {}
    for _ in range(rounds):
        for name, command in programs.items():
            now = run(name, command, kernel)
            if now is None:
                continue
            before = least.get(name, (math.inf, math.inf, now[2]))
            least[name] = (min(before[0], now[0]), min(before[1], now[1]), now[2])
    return least


def differ(figures: dict[str, Figures]) -> list[str]:
    """Who has computed something else than the fast form here."""
    right = figures[FAST][2]
    return [n for n, f in figures.items() if not abs(f[2] - right) <= NEARLY * abs(right)]


def ratio(figures: dict[str, Figures], peer: str, which: int) -> float:
    """This node's seconds by the peer's."""
    return figures[FAST][which] / figures[peer][which] if peer in figures else math.nan


def row(kernel: str, figures: dict[str, Figures], columns: list[str]) -> str:
    text = f"{kernel:11}"
    for name in columns:
        wall, processor, _ = figures.get(name, (math.nan,) * 3)
        text += f" {wall * 1e3:9.2f} {processor * 1e3:9.2f}"
    for peer in HOW:
        text += f" {ratio(figures, peer, 0):7.2f} {ratio(figures, peer, 1):5.2f}"
    return text.replace("nan", "  -")


def mean(table: dict[str, dict[str, Figures]], peer: str, which: int) -> float:
    ratios = [ratio(table[k], peer, which) for k in SEVEN if k in table]
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios)) if ratios else math.nan


def print_targets(table: dict[str, dict[str, Figures]]) -> None:
    for peer, goal in (("HIP-CPU", 0.5), ("PoCL", 1.0)):
        if all(peer in table[k] for k in table):
            wall, processor = (mean(table, peer, which) for which in (0, 1))
            print(
                f"geometric mean over the first seven, by {peer}: {wall:.2f}, "
                f"processor time {processor:.2f} (goal {goal})"
            )
    if all("nvcc" in table[k] for k in table):
        for which, time in ((0, "wall time"), (1, "processor time")):
            by = {k: 1 / ratio(table[k], "nvcc", which) for k in table}
            middle = math.exp(sum(math.log(r) for r in by.values()) / len(by))
            worst = max(by, key=lambda k: by[k])
            print(
                f"compiled by nvcc over vgpu-cc, {time}: geometric mean {middle:.2f}, "
                f"most {by[worst]:.2f} ({worst}; goal 1.3)"
            )
    if all(UNCOUNTED in table[k] for k in table):
        by = {k: ratio(table[k], UNCOUNTED, 1) for k in table}
        middle = math.exp(sum(math.log(r) for r in by.values()) / len(by))
        worst = max(by, key=lambda k: by[k])
        print(
            f"with counts over without, processor time: geometric mean {middle:.2f}, "
            f"most {by[worst]:.2f} ({worst}; goal 1.2)"
        )
    slower = [k for k in table if ratio(table[k], "HIP-CPU", 0) > 1]
    if all("HIP-CPU" in table[k] for k in table):
        print(f"slower than HIP-CPU (goal: none): {', '.join(slower) or 'none'}")


def compare(programs: dict[str, list[str]], kernels: list[str], rounds: int) -> int:
    table: dict[str, dict[str, Figures]] = {}
    wrong = []
    print(f"{os.cpu_count()} processors; milliseconds of wall and processor time, and ratios")
    own = [name for name in (CAREFUL, UNCOUNTED) if name in programs]
    columns = [FAST, *own, *HOW]
    heads = "".join(f" {name:>19}" for name in columns)
    print(f"{'kernel':11}{heads}" + "".join(f" {f'by {peer}':>13}" for peer in HOW))
    for kernel in kernels:
        figures = measure(programs, kernel, rounds)
        if FAST not in figures:
            return 1
        table[kernel] = figures
        print(row(kernel, figures, columns), flush=True)
        wrong += [f"{kernel}: {name} has computed something else" for name in differ(figures)]
    print_targets(table)
    for peer, how in HOW.items():
        if peer not in programs:
            print(f"{peer} is not here: {how}")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="small sizes: the figures mean nothing")
    parser.add_argument("--careful", action="store_true", help="the careful form, too: it is slow")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hip-cpu", default=os.environ.get("HIP_CPU"), help="its checkout")
    parser.add_argument("--uncounted", help="vgpu-cc, for the same program without counts")
    parser.add_argument("--vgpu-run", help="vgpu-run, for the same program compiled by nvcc")
    parser.add_argument("program")
    parser.add_argument("kernel", nargs="*", help=f"some of {', '.join(KERNELS)}")
    options = parser.parse_intermixed_args()
    if unknown := set(options.kernel) - set(KERNELS):
        parser.error(f"no such kernel: {', '.join(unknown)}")
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        programs = {
            FAST: [options.program],
            **find_peers(options.hip_cpu, options.vgpu_run, folder),
        }
        if options.careful:
            programs[CAREFUL] = [options.program]
        if options.uncounted and (program := without_counts(options.uncounted, folder)):
            programs[UNCOUNTED] = program
        if options.tiny:
            programs = {name: [*command, "--tiny"] for name, command in programs.items()}
        return compare(programs, options.kernel or list(KERNELS), options.rounds)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
