# SPDX-License-Identifier: MIT
"""Stores, updates and copies of PTX that are complete later (st.async, red.async,
cp.reduce.async.bulk, cp.async with a predicate), and registers of the place where a kernel runs."""

import shutil

from rig import HEAD, Case, main

PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
WORDS = [(i * 2654435761) & 0xFFFFFFFF for i in range(32)]
MASK = 0xFFFFFFFF
START = """
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd5];
    mov.u32 %r3, cells;
    mad.lo.u32 %r4, %r1, 4, %r3;
    mov.u32 %r5, object;
    mov.u32 %r6, sum;
    setp.eq.u32 %p1, %r1, 0;
"""
# The words go to other lanes' cells, and all of them into a sum; 256 bytes are expected.
STORED = """
    @%p1 mbarrier.init.shared.b64 [object], 1;
    @%p1 st.shared.u32 [sum], 5;
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd6, [object], 256;
    xor.b32 %r7, %r1, 7;
    mad.lo.u32 %r7, %r7, 4, %r3;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r7], %r2, [%r5];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32
        [%r6], %r2, [%r5];
$wait:
    mbarrier.try_wait.parity.shared.b64 %p2, [object], 0;
    @!%p2 bra $wait;
    ld.shared.u32 %r8, [%r4];
    ld.shared.u32 %r9, [sum];
    xor.b32 %r8, %r8, %r9;
    st.global.u32 [%rd4], %r8;
    ret;
"""
# Each word of the output becomes an extreme or a sum of itself and the cell.
REDUCED = """
    st.shared.u32 [%r4], %r2;
    st.global.u32 [%rd4], {start};
    fence.proxy.async;
    bar.sync 0;
    @!%p1 bra $end;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.{what} [%rd1], [cells], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
$end:
    ret;
"""
# Odd lanes read nothing, and get zeros; of the second word its lower half is read.
IGNORED = """
    st.shared.u32 [%r4], -1;
    and.b32 %r7, %r1, 1;
    setp.eq.u32 %p2, %r7, 1;
    cp.async.ca.shared.global [%r4], [%rd5], 4, %p2;
    cp.async.ca.shared.global [sum], [%rd2+4], 4, 2;
    cp.async.wait_all;
    ld.shared.u32 %r8, [%r4];
    ld.shared.u32 %r9, [sum];
    xor.b32 %r8, %r8, %r9;
    st.global.u32 [%rd4], %r8;
    ret;
"""
PLACE = """
    mov.u32 %r7, %smid;
    mov.u32 %r8, %nsmid;
    setp.lt.u32 %p2, %r7, %r8;
    selp.u32 %r9, 1, 0, %p2;
    mov.u32 %r7, %dynamic_smem_size;
    mad.lo.u32 %r9, %r7, 2, %r9;
    mov.u32 %r7, %clock_hi;
    mov.u32 %r8, %globaltimer_hi;
    mov.u32 %r10, %globaltimer_lo;
    add.u32 %r9, %r9, %r7;
    st.global.u32 [%rd4], %r9;
    ret;
"""


def signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


class Async(Case):
    def check(self, body: str, right: list[int]) -> None:
        head = HEAD.replace("7.0", "8.1").replace("sm_80", "sm_90")
        variables = ".shared .align 128 .b8 cells[128];\n.shared .align 8 .b64 object;\n"
        variables += ".shared .align 4 .b32 sum;\n"
        kernel = ".visible .entry kernel(.param .u64 out, .param .u64 in)\n{"
        module = self.write("kernel.ptx", f"{head}{variables}{kernel}{START}{body}}}\n")
        if PTXAS:
            done = self.run_command(PTXAS, "-arch=sm_90", module, "-o", "kernel.cubin")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.launch(module, "kernel", 32, WORDS, 32), right)

    def test_stores_and_updates(self) -> None:
        total = (sum(WORDS) + 5) & MASK
        self.check(STORED, [WORDS[i ^ 7] ^ total for i in range(32)])

    def test_copies_that_reduce(self) -> None:
        for what, start, result in (
            ("add.u32", 0x80000001, lambda word: (word + 0x80000001) & MASK),
            ("min.s32", 77, lambda word: min(signed(word), 77) & MASK),
            ("max.u32", 0x40000000, lambda word: max(word, 0x40000000)),
            ("xor.b32", 0x0F0F0F0F, lambda word: word ^ 0x0F0F0F0F),
        ):
            with self.subTest(what=what):
                self.check(REDUCED.format(what=what, start=start), [result(w) for w in WORDS])

    def test_copies_with_a_predicate(self) -> None:
        self.check(IGNORED, [(WORDS[1] & 0xFFFF) ^ (0 if i % 2 else WORDS[i]) for i in range(32)])

    def test_registers_of_the_place(self) -> None:
        self.check(PLACE, [1] * 32)


if __name__ == "__main__":
    main()
