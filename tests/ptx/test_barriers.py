# SPDX-License-Identifier: MIT
"""PTX's barriers with a number and a count of threads: barriers.cu against the guide's rules, in
several orders and with the checks, and programs whose barriers never complete, or wrongly."""

import os
import pathlib

from rig import CC, HEAD, HERE, RUN, Case, main

ORDERS = ({}, {"VGPU_SCHEDULE": "3"}, {"VGPU_LANES": "reverse"}, {"VGPU_SCHEDULE": "weak"})


def two_buffers(lane: int) -> int:
    total = 0
    for step in range(9):
        total = total * 3 + step * 100 + 31 - lane
    return total


RIGHT = {
    "two_buffers": [two_buffers(lane) for lane in range(32)] * 4,
    "by_zero": [3 * (i % 32 + 5) for i in range(64)],
    "reduced": [sum(i % 3 != 0 for i in range(64)) * 100 + 1] * 64 + [64 * 100 + 10] * 64,
    "chain": [((17 * 3 + 1) * 3 + 2) * 3 + 3] * 32,
}
BODY = """
    .reg .pred %p, %q;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p, %r1, 32;
    @%p bra $first;
"""
DEADLOCK = "deadlock in block (0,0,0): "
WRONG = {
    # the second warp's barriers, the first warp's, and what is said
    "crossed": (
        "bar.sync 1, 64; bar.sync 2, 64;",
        "bar.sync 2, 64; bar.sync 1, 64;",
        f"{DEADLOCK}32 threads (first: (0,0,0)) wait at barrier 2 (32 of 64 have arrived) in ",
    ),
    "too many": (
        "bar.sync 1, 96;",
        "bar.sync 1, 96;",
        f"{DEADLOCK}32 threads (first: (0,0,0)) wait at barrier 1 (64 of 96 have arrived) in ",
    ),
    "not told": (
        "bar.sync 3, 64;",
        "bar.arrive 2, 64;",
        "wait at barrier 3 (32 of 64 have arrived) in ",
    ),
    "one left": ("bar.sync 3, 64;", "ret;", "; 32 of 64 have left the kernel"),
    "opened too early": (
        "bar.sync 1, 64;",
        "bar.arrive 1, 64; bar.arrive 1, 64;",
        "(32 of 64 have arrived, after threads that arrived twice in module.ptx:",
    ),
    "other counts": (
        "bar.sync 1, 64;",
        "bar.sync 1, 32; bar.sync 1, 96;",
        "different numbers of threads: ",
    ),
    # an H200 says "illegal instruction"
    "a count and none": ("bar.sync 1, 64;", "bar.sync 1;", "(0: all of the block)"),
    "__syncthreads and a count": ("bar.arrive 0, 64;", "bar.sync 0;", "(0: all of the block)"),
    "no such barrier": ("mov.u32 %r2, 16; bar.sync %r2, 64;", "ret;", "a block has 16, from 0 on"),
    "part of a warp": (
        "mov.u32 %r2, 40; bar.sync 1, %r2;",
        "ret;",
        "barrier 1 of 40 threads",
    ),
}


class Barriers(Case):
    def run_as(self, *command: object, **more: str) -> tuple[int, str, str]:
        words = [f"{name}={value}" for name, value in more.items()]
        name = f"VGPU_NODE_ID={self.folder.name}-{os.getpid()}"
        done = self.run_command("env", name, *words, *command)
        return done.returncode, done.stdout, done.stderr

    def compiled(self, source: pathlib.Path) -> pathlib.Path:
        program = self.folder / source.stem
        done = self.run_command(CC, "-std=c++17", "-o", program, source)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return program

    def test_what_they_compute(self) -> None:
        program = self.compiled(HERE / "barriers.cu")
        lines = [f"{name}: no error {' '.join(map(str, row))}" for name, row in RIGHT.items()]
        want = "\n".join(lines) + "\n"
        for order in ORDERS:
            with self.subTest(**order):
                self.assertEqual(self.run_as(program, VGPU_CHECK="kernels", **order), (0, want, ""))

    def module(self, second: str, first: str) -> pathlib.Path:
        head = f"{HEAD}.visible .entry kernel(.param .u64 out, .param .u64 in)\n{{"
        return self.write(
            "kernel.ptx",
            f"{head}{BODY}    {second}\n    ret;\n$first:\n    {first}\n    ret;\n}}\n",
        )

    def test_barriers_that_never_complete(self) -> None:
        for name, (second, first, said) in WRONG.items():
            with self.subTest(name=name):
                code, told, stderr = self.run_as(
                    RUN, self.module(second, first), "kernel", 1, 64, 4
                )
                self.assertNotEqual(code, 0)
                self.assertIn(said, stderr)
                self.assertIn("module.ptx:", stderr)
                error = "ILLEGAL_INSTRUCTION" if "count" in name else "LAUNCH_FAILED"
                self.assertIn(f"CUDA_ERROR_{error}", told)

    def test_a_thread_that_arrives_twice(self) -> None:
        module = self.module("bar.sync 1, 64;", "bar.arrive 1, 64;" * 3)
        code, _, stderr = self.run_as(RUN, module, "kernel", 1, 64, 4)
        self.assertEqual(code, 0, stderr)
        self.assertRegex(stderr, r"arrives at barrier 1 in .*: it counts twice.*kernels\.barrier")

    def test_a_warp_that_is_not_full_counts_as_one(self) -> None:
        both = "$all: bar.sync 4, 64; bar.sync 4; bar.sync 0, 64; bar.sync 0;"
        code, _, stderr = self.run_as(RUN, self.module(both, "bra $all;"), "kernel", 1, 40, 4)
        self.assertEqual((code, stderr), (0, ""))


if __name__ == "__main__":
    main()
