# SPDX-License-Identifier: MIT
"""Kernels of PTX in both forms: addresses that become pointers, loops that nvcc has unrolled,
shuffles. Each is compared with what the guide to PTX says; most must have the fast form."""

import os
import subprocess

from rig import HEAD, RUN, Case, main

BLOCKS, THREADS = 4, 64
WORDS = [(i * 2654435761) & 0xFFFFFFFF for i in range(BLOCKS * THREADS)]
MASK = 0xFFFFFFFF

START = """
    .reg .pred %p<8>;
    .reg .f32 %f<8>;
    .reg .b32 %r<32>;
    .reg .b64 %rd<32>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.s32 %r3, %r2, 64, %r1;
    mul.wide.s32 %rd3, %r3, 4;
    add.s64 %rd4, %rd2, %rd3;
    add.s64 %rd5, %rd1, %rd3;
"""

# Each thread adds up every 64th word, by twos, and leaves the loop when a count is 0.
STRIDES = """
    mov.u32 %r9, %ntid.x;
    shr.u32 %r4, %r9, 4;
    mov.u32 %r5, 0;
    mul.wide.s32 %rd7, %r1, 4;
    add.s64 %rd6, %rd2, %rd7;
    mul.wide.s32 %rd8, %r9, 4;
$again:
    ld.global.u32 %r6, [%rd6];
    add.s32 %r5, %r5, %r6;
    add.s64 %rd9, %rd6, %rd8;
    ld.global.u32 %r7, [%rd9];
    add.s32 %r5, %r5, %r7;
    add.s64 %rd6, %rd9, %rd8;
    add.s32 %r4, %r4, -2;
    setp.ne.s32 %p1, %r4, 0;
    @%p1 bra $again;
    st.global.u32 [%rd5], %r5;
    ret;
"""

# The neighbour's word, by way of shared memory; the sum of 32 bits turns over twice.
SHARED = """
    ld.global.u32 %r4, [%rd4];
    mov.u32 %r5, cells;
    shl.b32 %r6, %r1, 2;
    add.s32 %r7, %r5, %r6;
    st.shared.u32 [%r7], %r4;
    xor.b32 %r8, %r1, 1;
    shl.b32 %r9, %r8, 2;
    bar.sync 0;
    add.s32 %r10, %r5, 0x80000000;
    add.s32 %r11, %r9, 0x80000004;
    add.s32 %r12, %r10, %r11;
    ld.shared.u32 %r13, [%r12+-4];
    cvt.u64.u32 %rd6, %r7;
    cvta.shared.u64 %rd7, %rd6;
    ld.u32 %r14, [%rd7];
    sub.s32 %r15, %r13, %r14;
    st.global.u32 [%rd5], %r15;
    ret;
"""

# Words of an array of its own, and through one of two pointers: of one object, or of two.
CHOSEN = """
    .local .align 8 .b8 own[16];
    mov.u64 %rd6, own;
    cvta.local.u64 %rd7, %rd6;
    and.b32 %r4, %r1, 3;
    setp.gt.u32 %p1, %r4, 1;
    add.s64 %rd8, %rd2, 128;
    selp.b64 %rd9, %rd2, %rd8, %p1;
    ld.global.u32 %r5, [%rd9+4];
    st.local.u32 [%rd6+4], %r5;
    setp.eq.u32 %p2, %r4, 0;
    @%p2 st.u32 [%rd7+4], %r4;
    selp.b64 %rd10, %rd2, %rd7, %p1;
    ld.u32 %r6, [%rd10+4];
    st.global.u32 [%rd5], %r6;
    ret;
"""

# An index that starts below 0 in each thread, and that a loop with a barrier adds 64 to.
GROWN = """
    sub.s32 %r4, %r1, 200;
    mov.u32 %r5, 0;
    mov.u32 %r6, 6;
$again:
    and.b32 %r7, %r4, 255;
    mul.wide.u32 %rd6, %r7, 4;
    add.s64 %rd7, %rd2, %rd6;
    ld.global.u32 %r8, [%rd7];
    bar.sync 0;
    shr.u32 %r9, %r4, 31;
    xor.b32 %r8, %r8, %r9;
    mad.lo.s32 %r5, %r5, 3, %r8;
    add.s32 %r4, %r4, 24;
    add.s32 %r4, %r4, 40;
    add.s32 %r6, %r6, -1;
    setp.ne.s32 %p1, %r6, 0;
    @%p1 bra $again;
    st.global.u32 [%rd5], %r5;
    ret;
"""


def after_growing(thread: int) -> int:
    total = 0
    for at in range(thread - 200, thread - 200 + 6 * 64, 64):
        total = total * 3 + (WORDS[at & 255] ^ (at < 0)) & MASK
    return total


KINDS = ("idx", "up", "down", "bfly")


def shuffled(kind: str, lane: int, by: int, c: int) -> tuple[int, bool]:
    """From which lane, and whether it is in range: PTX ISA, shfl.sync."""
    segment, by = c >> 8 & 31, by & 31
    last = (lane & segment) | (c & 31 & ~segment)
    first = lane & segment
    j = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": first | (by & ~segment)}[
        kind
    ]
    inside = j >= last if kind == "up" else j <= last
    return (j if inside else lane), inside


def shuffles(cases: list[tuple[str, int, int]]) -> str:
    text = ["ld.global.u32 %r4, [%rd4];", "mov.u32 %r9, -1;", "mov.u32 %r10, 0;"]
    for kind, by, c in cases:
        text += [f"mov.u32 %r5, {by};", f"mov.u32 %r6, {c};"]
        text += [f"shfl.sync.{kind}.b32 %r7|%p1, %r4, %r5, %r6, %r9;", "selp.u32 %r8, 77, 5, %p1;"]
        text += ["xor.b32 %r7, %r7, %r8;", "mad.lo.s32 %r10, %r10, 31, %r7;"]
    return "\n".join([*text, "st.global.u32 [%rd5], %r10;", "ret;"])


def after_shuffles(cases: list[tuple[str, int, int]]) -> list[int]:
    out = []
    for i in range(len(WORDS)):
        lane, total = i % 32, 0
        for kind, by, c in cases:
            source, inside = shuffled(kind, lane, by, c)
            total = total * 31 + (WORDS[i - lane + source] ^ (77 if inside else 5)) & MASK
        out.append(total)
    return out


class Forms(Case):
    def run_in(self, form: str, body: str) -> tuple[list[int], str]:
        """The words out, and what the trace says of the form."""
        shared = ".shared .align 4 .b8 cells[256];\n"
        head = f"{HEAD}{shared}.visible .entry kernel(.param .u64 out, .param .u64 in)\n{{"
        module = self.write("kernel.ptx", f"{head}{START}{body}\n}}\n")
        trace = self.folder / f"{form}.json"
        environment = dict(os.environ, VGPU_FORM=form, VGPU_TRACE=str(trace))
        environment["CUDA_CACHE_PATH"] = str(self.folder / "cache")
        environment["VGPU_NODE_ID"] = f"{self.folder.name}-{form}"  # a node keeps its environment
        done = subprocess.run(
            [RUN, module, "kernel", str(BLOCKS), str(THREADS), str(len(WORDS))],
            input="\n".join(f"{word:x}" for word in WORDS),
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = trace.read_text().partition('"form":"')[2].partition('"')[0]
        return [int(line, 16) for line in done.stdout.split()], said

    def check(self, body: str, right: list[int], fast: bool = True) -> None:
        careful, _ = self.run_in("careful", body)
        quick, said = self.run_in("fast", body)
        self.assertEqual(careful, right)
        self.assertEqual(quick, right)
        if fast:
            self.assertRegex(said, r"fast: \d+ blocks")

    def test_an_unrolled_loop_with_strides(self) -> None:
        sums = [sum(WORDS[t::THREADS]) & MASK for t in range(THREADS)]
        self.check(STRIDES, sums * BLOCKS)

    def test_an_index_that_grows(self) -> None:
        self.check(GROWN, [after_growing(t) for t in range(THREADS)] * BLOCKS)

    def test_addresses_of_shared_memory(self) -> None:
        right = [(WORDS[i ^ 1] - WORDS[i]) & MASK for i in range(len(WORDS))]
        self.check(SHARED, right, fast=False)

    def test_pointers_that_are_chosen(self) -> None:
        chosen = [0, WORDS[33], WORDS[1], WORDS[1]]
        self.check(CHOSEN, [chosen[i % 4] for i in range(len(WORDS))], fast=False)

    def test_shuffles_as_cuda_has_them(self) -> None:
        cases = [
            (kind, by, (32 - width) << 8 | (0 if kind == "up" else 31))
            for kind in KINDS
            for width in (32, 8)
            for by in (1, 5, 34)
        ]
        self.check(shuffles(cases), after_shuffles(cases))

    def test_shuffles_that_cuda_has_not(self) -> None:
        cases = [("down", 3, 15), ("up", 2, 4), ("bfly", 9, 0x1007), ("idx", 30, 0x0C03)]
        self.check(shuffles(cases), after_shuffles(cases), fast=False)

    def test_many_barriers(self) -> None:
        """74 places with accesses, as a sort that nvcc has unrolled."""
        step = [
            "bar.sync 0;",
            "ld.shared.u32 %r8, [%r7];",
            "setp.gt.u32 %p1, %r8, {};",
            "@%p1 bra $on{};",
            "add.s32 %r8, %r8, 7;",
            "st.shared.u32 [%r7], %r8;",
            "$on{}:",
        ]
        body = ["ld.global.u32 %r4, [%rd4];", "mov.u32 %r5, cells;", "shl.b32 %r6, %r1, 2;"]
        body += ["add.s32 %r7, %r5, %r6;", "st.shared.u32 [%r7], %r4;"]
        right = list(WORDS)
        for i in range(36):
            limit = (i + 1) * 100000000
            body += [line.format(limit if "setp" in line else i) for line in step]
            right = [word if word > limit else (word + 7) & MASK for word in right]
        body += ["bar.sync 0;", "ld.shared.u32 %r8, [%r7];", "st.global.u32 [%rd5], %r8;", "ret;"]
        self.check("\n".join(body), right)


if __name__ == "__main__":
    main()
