# SPDX-License-Identifier: MIT
"""Every version of the book's stencil computes what a loop in Python does, bit for bit: for odd
sizes, for parts of one row, on 1 to 8 GPUs, and on nodes with other links.

    stencil.py BIN

With PEERLAB_FULL=1 so do the exercises' versions, and versions with a mistake must be wrong.
"""

import functools
import itertools
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

CODE = Path(__file__).resolve().parent.parent.parent / "docs/book/code"
FULL = os.environ.get("PEERLAB_FULL") == "1"
EXERCISES = ("tiles", "pull", "peergraph")  # solutions that are versions, too
VERSIONS = ("one", "host", "peer", "copies", "overlap", "ipc", "nccl", "graph")
# GPUs, width, height, steps: no part, one row, two rows for each GPU, some rows more for the first.
SIZES = ((1, 3, 3, 1), (2, 37, 29, 6), (3, 301, 5, 4), (4, 7, 11, 5))
EIGHT = ((5, 5, 13, 7), (8, 19, 10, 9))  # need a node of eight
NODE_OF_EIGHT = "dgx-a100"
# Nodes, and from how many GPUs on a version needs links that are not there.
NODES = (("dgx1-v100", 5), ("pcie-gen3-4", 5), ("pcie-dual-socket-4", 3), ("rtx3090-nvlink-4", 2))
WITHOUT_PEER_ACCESS = {"host": (), "nccl": (), "copies": ("off",)}  # arguments that they need
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


@functools.cache
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


class Run(NamedTuple):
    """One call of a version."""

    node: str | None
    size: tuple[int, int, int, int]
    more: tuple[str, ...] = ()


def problem(program: Path, run: Run) -> str:
    """How a run differs from what is expected; "" where it does not."""
    environment = {**os.environ, **({"VGPU_NODE": run.node} if run.node else {})}
    command = [str(program), *map(str, run.size), *run.more]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    gpus, width, height, steps = run.size
    want = expected(width, height, steps)
    says = rf"{gpus} GPUs?, {width} x {height}: [\d.]+ us a step, checksum {want}\n"
    if done.returncode == 0 and re.fullmatch(says, done.stdout) and not done.stderr:
        return ""
    said = f"status {done.returncode}\n{done.stdout}{done.stderr}"
    called = f"{run.node or 'default node'}: {program.name} {' '.join(command[1:])}"
    return f"{called}: {said}expected the checksum {want}"


def on_nodes(version: str) -> list[Run]:
    """1 to 4 GPUs on every node where the version can use that many."""
    found = []
    for (node, lacks), gpus in itertools.product(NODES, (1, 2, 3, 4)):
        size = (gpus, 37, 29, 6)
        if gpus < lacks:
            found.append(Run(node, size))
        elif version in WITHOUT_PEER_ACCESS:
            found.append(Run(node, size, WITHOUT_PEER_ACCESS[version]))
    return found


def runs_of(version: str) -> list[Run]:
    if version in ("one", "tiles"):
        sizes = [Run(None, (1, *size[1:])) for size in (*SIZES, *EIGHT)]
        return [*sizes, *(run for run in on_nodes(version) if run.size[0] == 1)]
    sizes = [*(Run(None, size) for size in SIZES), *(Run(NODE_OF_EIGHT, size) for size in EIGHT)]
    return [*sizes, *on_nodes(version)]


def problems(program: Path, version: str) -> list[str]:
    return [why for why in (problem(program, run) for run in runs_of(version)) if why]


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
