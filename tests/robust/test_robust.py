# SPDX-License-Identifier: MIT
"""Whatever bytes come, what reads them neither crashes nor hangs: libFuzzer's word for it.

test_robust.py TARGET. A few seconds from the project's own files on; with PEERLAB_FULL=1 (`./lab
selfcheck --full`) ten minutes. Needs clang and its libFuzzer, else it says so and is skipped.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CC, NODE, COMMON = ROOT / "vgpu/cc", ROOT / "vgpu/node", ROOT / "vgpu/common"
SECONDS = 600 if os.environ.get("PEERLAB_FULL") else 3
SKIPPED = 77

# The node's folders: its rooms, and their doors.
ROOMS = [NODE, *sorted(folder for folder in NODE.rglob("*") if folder.is_dir())]

# The node without its main: requests come by socket pairs.
WHOLE_NODE = [
    *(f"-I{folder}" for folder in (*ROOMS, COMMON, ROOT / "vgpu")),
    "-I/usr/include/cjson",
    f'-DVGPU_NODES="{ROOT / "vgpu/nodes"}"',
    *(str(file) for file in sorted(NODE.rglob("*.c")) if file != NODE / "main.c"),
    *(str(file) for file in sorted(COMMON.glob("*.c"))),
    "-Wno-gnu-variable-sized-type-not-at-end",
    "-lcjson",
    "-lm",
    "-lpthread",
]

# The same with contexts that answer out of the input, in place of their processes.
WITH_CONTEXTS = [
    str(HERE / "whole_node.c"),
    str(HERE / "target_contexts.c"),
    f"-I{HERE}",
    *(word for word in WHOLE_NODE if word != str(NODE / "system/spawner.c")),
]

# What each target is made of, and the files that its inputs are grown from.
TARGETS = {
    "lexer": (
        [f"-I{CC}", str(CC / "lex.c"), str(CC / "mem.c")],
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
# Environments that a target runs in, one after the other.
WAYS: dict[str, list[dict[str, str]]] = {
    "requests": [{}, {"TARGET_HANDLES": "1"}],
    "hostile": [{}, {"TARGET_CONTEXTS": "1"}],
}
FLAGS = ["-g", "-O1", "-std=gnu11", "-D_GNU_SOURCE=", "-fsanitize=fuzzer,address,undefined"]
FLAGS += ["-fno-sanitize-recover=undefined"]


def clang(*words: str) -> bool:
    try:
        return subprocess.run(["clang", *FLAGS, *words], check=False).returncode == 0
    except FileNotFoundError:
        return False


def can_run(folder: str) -> bool:
    """Are clang and its libFuzzer here?"""
    source = Path(folder) / "empty.c"
    source.write_text("int LLVMFuzzerTestOneInput(const char *d, long n) { return !d && n; }\n")
    return clang("-o", f"{folder}/empty", str(source))


def main() -> int:
    name = sys.argv[1]
    more, seeds = TARGETS[name]
    with tempfile.TemporaryDirectory() as folder:
        if not can_run(folder):
            print("cannot run here: clang with libFuzzer (libclang-rt) is needed")
            return SKIPPED
        program = f"{folder}/{name}"
        if not clang("-o", program, str(HERE / f"target_{name}.c"), *more):
            return 1
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(seeds):
            (corpus / f"{number}").write_bytes(seed.read_bytes())
        return max(fuzzed(program, corpus, way) for way in WAYS.get(name, [{}]))


def fuzzed(program: str, corpus: Path, way: dict[str, str]) -> int:
    """1: it crashed, leaked or hung, and how is printed."""
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
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
