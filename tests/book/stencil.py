# SPDX-License-Identifier: MIT
"""Every version of the book's stencil computes what a loop in Python does, bit for bit: for odd
sizes, for parts of one row, on 1 to 8 GPUs.

    stencil.py BIN

With PEERLAB_FULL=1 so do the exercises' versions, and versions with a mistake must be wrong.
"""

import itertools
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

CODE = Path(__file__).resolve().parent.parent.parent / "docs/book/code"
FULL = os.environ.get("PEERLAB_FULL") == "1"
EXERCISES = ("tiles", "pull", "peergraph")  # solutions that are versions, too
VERSIONS = ("one", "host", "peer", "copies", "overlap", "ipc", "nccl", "graph")
# GPUs, width, height, steps: no part, one row, two rows for each GPU, some rows more for the first.
SIZES = ((1, 3, 3, 1), (2, 37, 29, 6), (3, 301, 5, 4), (4, 7, 11, 5))
EIGHT = ((5, 5, 13, 7), (8, 19, 10, 9))  # need a node of eight
NODE_OF_EIGHT = "dgx-a100"
SECONDS = 120
# Of which version, what stands there, and what is planted.
MUTANTS = (
    ("host", "buffer, next_row(&part[g], y)", "buffer, next_row(&part[g], y + 1)"),
    ("peer", "part[g - 1].rows + 1)", "part[g - 1].rows)"),
    ("peer", "        wait_for_neighbours(g, p->stream);\n", ""),
    ("copies", "        wait_for_neighbours(g, p->stream);\n", ""),
    ("overlap", "        wait_for_neighbours(g, edge[g]);\n", ""),
    ("overlap", "        CHECK(cudaStreamWaitEvent(p->stream, sent[g], 0));\n", ""),
    ("graph", "i < steps; i++)\n        step();", "i < steps - 1; i++)\n        step();"),
    ("ipc", "theirs[side][(number - 1) % 2]", "theirs[side][number % 2]"),
    ("nccl", "part[g].rows + 1);", "0);"),
    ("pull", "part[g - 1].rows) :", "part[g - 1].rows - 1) :"),
)


def planted(code: Path, version: str, old: str, new: str) -> None:
    """Changes a copy of the code. ValueError: the line is not there any more."""
    files = [path for name in ("stencil", "exercises") for path in (code / name).glob("*.[ch]*")]
    having = [path for path in files if old in path.read_text(encoding="utf-8")]
    mine = [path for path in having if path.name == f"{version}.cu"] or having
    if len(mine) != 1:
        raise ValueError(f"{version}: {len(mine)} files have {old!r}")
    mine[0].write_text(mine[0].read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def built(tools: Path, code: Path, version: str, folder: Path) -> Path:
    program = folder / version
    library = ["-lnccl"] if version == "nccl" else []
    source = code / ("exercises" if version in EXERCISES else "stencil") / f"{version}.cu"
    command = [tools / "vgpu-cc", "-Wall", "-Wextra", "-Werror", "-o", program, source, *library]
    subprocess.run(command, check=True, timeout=SECONDS)
    return program


def expected(width: int, height: int, steps: int) -> str:
    """The checksum of the plate after some steps, by a loop."""
    now = [[(y * 31 + x * 17) % 97 / 97.0 for x in range(width)] for y in range(height)]
    for _ in range(steps):
        following = [list(row) for row in now]
        for y, x in itertools.product(range(1, height - 1), range(1, width - 1)):
            four = now[y][x - 1] + now[y][x + 1] + now[y - 1][x] + now[y + 1][x]
            following[y][x] = 0.25 * four
        now = following
    cells = [value for row in now[1 : height - 1] for value in row]
    bits = struct.unpack(f"{len(cells)}Q", struct.pack(f"{len(cells)}d", *cells))
    return f"{sum(b * (2 * (width + i) + 1) for i, b in enumerate(bits)) % 2**64:016x}"


def problem(program: Path, node: str | None, size: tuple[int, int, int, int], want: str) -> str:
    """How a run differs from what is expected; "" where it does not."""
    environment = {**os.environ, **({"VGPU_NODE": node} if node else {})}
    command = [str(program), *map(str, size)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    gpus, width, height, _ = size
    says = rf"{gpus} GPUs?, {width} x {height}: [\d.]+ us a step, checksum {want}\n"
    if done.returncode == 0 and re.fullmatch(says, done.stdout) and not done.stderr:
        return ""
    said = f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return f"{program.name} {' '.join(command[1:])}: {said}expected the checksum {want}"


def runs_of(version: str) -> list[tuple[str | None, tuple[int, int, int, int]]]:
    if version in ("one", "tiles"):
        return [(None, (1, *size[1:])) for size in (*SIZES, *EIGHT)]
    return [*((None, size) for size in SIZES), *((NODE_OF_EIGHT, size) for size in EIGHT)]


def problems(program: Path, version: str) -> list[str]:
    found = [problem(program, node, size, expected(*size[1:])) for node, size in runs_of(version)]
    return [why for why in found if why]


def survived(tools: Path, folder: Path) -> list[str]:
    """The mutants that compute what the version does."""
    alive = []
    for number, (version, old, new) in enumerate(MUTANTS):
        code = folder / str(number)
        subprocess.run(["cp", "-r", CODE, code], check=True)
        planted(code, version, old, new)
        if not problems(built(tools, code, version, folder), version):
            alive.append(f"{version}: with {new!r} for {old!r} it computes the same")
    return alive


def main() -> int:
    tools, wrong = Path(sys.argv[1]).resolve(), []
    with tempfile.TemporaryDirectory(prefix="book-stencil-") as name:
        versions = (*VERSIONS, *EXERCISES) if FULL else VERSIONS
        for version in versions:
            wrong += problems(built(tools, CODE, version, Path(name)), version)
        mutants = len(MUTANTS) if FULL else 0
        wrong += survived(tools, Path(name)) if mutants else []
    print("\n".join([*wrong, f"{len(versions)} versions, {mutants} mutants, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
