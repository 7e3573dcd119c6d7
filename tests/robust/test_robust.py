# SPDX-License-Identifier: MIT
"""Whatever bytes come, what reads them neither crashes nor hangs: libFuzzer's word for it.

test_robust.py WORK TARGET. A few seconds from the project's own files on; with PEERLAB_FULL=1
(`./lab selfcheck --full`) ten minutes. Target `node` only compiles the node into WORK, for those
that have all of it. Needs clang and its libFuzzer, else it says so and is skipped.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CC, NODE, COMMON = ROOT / "vgpu/cc", ROOT / "vgpu/node", ROOT / "vgpu/common"
FULL = bool(os.environ.get("PEERLAB_FULL"))
SECONDS = 600 if FULL else 3
SKIPPED = 77

# The node's folders: its rooms, and their doors.
ROOMS = [NODE, *sorted(folder for folder in NODE.rglob("*") if folder.is_dir())]

# The node without its main, compiled by the test robust.node for all who need it: requests come by
# socket pairs. A target may have a spawner of its own: it comes first, and this one is left out.
NODE_FLAGS = [
    *(f"-I{folder}" for folder in (*ROOMS, COMMON, ROOT / "vgpu")),
    "-I/usr/include/cjson",
    f'-DVGPU_NODES="{ROOT / "vgpu/nodes"}"',
    "-Wno-gnu-variable-sized-type-not-at-end",
]
NODE_SOURCES = [
    *(file for file in sorted(NODE.rglob("*.c")) if file != NODE / "main.c"),
    *sorted(COMMON.glob("*.c")),
]
ARCHIVE = "libnode.a"
WHOLE_NODE = [*NODE_FLAGS, ARCHIVE, "-lcjson", "-lm", "-lpthread"]

# The same with contexts that answer out of the input, in place of their processes.
WITH_CONTEXTS = [
    str(HERE / "whole_node.c"),
    str(HERE / "target_contexts.c"),
    f"-I{HERE}",
    *WHOLE_NODE,
]

# What each target is made of, and the files that its inputs are grown from.
TARGETS = {
    "lexer": (
        [f"-I{CC}/base/door", f"-I{CC}/lower", str(CC / "lower/lex.c"), str(CC / "base/mem.c")],
        [
            *(ROOT / "tests/cc/valid").glob("*.cu"),
            *(ROOT / "tests/cc/errors").glob("*.cu"),
        ],
    ),
    "node_file": (
        [
            *(f"-I{folder}" for folder in (*ROOMS, COMMON, ROOT / "vgpu")),
            "-I/usr/include/cjson",
            f'-DVGPU_NODES="{ROOT / "vgpu/nodes"}"',
            *(str(file) for file in sorted((NODE / "machine").glob("*.c"))),
            *(str(COMMON / f"{x}.c") for x in ("number",)),
            "-lcjson",
            "-lm",
        ],
        [*(ROOT / "vgpu/nodes").glob("*.json")],
    ),
    "requests": (WHOLE_NODE, []),
    "hostile": (WITH_CONTEXTS, []),
}
# Inputs of random bytes beside those: short ones, which the fuzzer begins with, come to no copy.
RANDOM = {"hostile": 16}
RANDOM_BYTES = 4000
# Environments that a target runs in, one after the other.
WAYS: dict[str, list[dict[str, str]]] = {
    "requests": [{}, {"TARGET_HANDLES": "1"}],
    "hostile": [{}, {"TARGET_CONTEXTS": "1"}],
}
# What is fuzzed for long is optimized; for seconds that takes longer than it saves.
FLAGS = ["-g", "-O1" if FULL else "-O0", "-std=gnu11", "-D_GNU_SOURCE="]
FLAGS += ["-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"]


def clang(*words: str | Path, at: Path) -> bool:
    try:
        return subprocess.run(["clang", *FLAGS, *words], check=False, cwd=at).returncode == 0
    except FileNotFoundError:
        return False


def can_run(folder: Path) -> bool:
    """Are clang and its libFuzzer here?"""
    source = folder / "empty.c"
    source.write_text("int LLVMFuzzerTestOneInput(const char *d, long n) { return !d && n; }\n")
    return clang("-o", "empty", source, at=folder)


def compile_node(work: Path) -> bool:
    """Makes the archive of the whole node."""
    flags = [*NODE_FLAGS, "-c"]
    objects = [f"{file.parent.name}-{file.stem}.o" for file in NODE_SOURCES]
    with ThreadPoolExecutor(2) as pool:
        jobs = zip(NODE_SOURCES, objects, strict=True)
        done = pool.map(lambda job: clang(*flags, job[0], "-o", job[1], at=work), jobs)
        if not all(list(done)):
            return False
    (work / ARCHIVE).unlink(missing_ok=True)
    return subprocess.run(["ar", "rcs", ARCHIVE, *objects], check=False, cwd=work).returncode == 0


def main() -> int:
    work, name = Path(sys.argv[1]).resolve(), sys.argv[2]
    work = work / FLAGS[1]
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        if not can_run(at):
            print("cannot run here: clang with libFuzzer (libclang-rt) is needed")
            return SKIPPED
        if name == "node":
            return 0 if compile_node(work) else 1
        more, seeds = TARGETS[name]
        if not clang("-o", f"{at}/{name}", HERE / f"target_{name}.c", *more, at=work):
            return 1
        corpus = at / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(seeds):
            (corpus / f"{number}").write_bytes(seed.read_bytes())
        for number in range(RANDOM.get(name, 0)):
            (corpus / f"random{number}").write_bytes(random.Random(number).randbytes(RANDOM_BYTES))
        return max(fuzzed(f"{at}/{name}", corpus, way) for way in WAYS.get(name, [{}]))


def fuzzed(program: str, corpus: Path, way: dict[str, str]) -> int:
    """1: it crashed, leaked or hung, and how is printed; or it ended before its time."""
    began = time.monotonic()
    words = [f"-max_total_time={SECONDS}", "-max_len=8192", "-timeout=100", str(corpus)]
    done = subprocess.run(
        [program, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=corpus.parent,
        env=dict(os.environ, ASAN_OPTIONS="detect_leaks=1", **way),
    )
    print(done.stderr[-3000:] if done.returncode else done.stderr.splitlines()[-1])
    seconds = time.monotonic() - began
    if seconds < SECONDS:
        print(f"it ended after {seconds:.0f} s of {SECONDS}")
    return 1 if done.returncode or seconds < SECONDS else 0


if __name__ == "__main__":
    sys.exit(main())
