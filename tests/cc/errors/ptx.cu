// SPDX-License-Identifier: MIT
// Inline PTX that has no meaning here is refused.
#define ASM asm
#define NOTHING ASM volatile("brkpt;")

__global__ void assembly(int *out)
{
    asm volatile("mov.u32 %0, %%lanemask_xx;" : "=r"(*out)); //!5 inline PTX that the virtual node does not know
    NOTHING; //!5 inline PTX that the virtual node does not know
    asm volatile("ld.volatile.volatile.global.u32 %0, [%1];" : "=r"(*out) : "l"(out)); //!5 inline PTX that the virtual node does not know
    asm volatile("red.global.min.noftz.f16x2 [%0], %1;" ::"l"(out), "r"(1)); //!5 inline PTX that the virtual node does not know
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 %0, %1;" : "=r"(*out) : "r"(1)); //!5 inline PTX that the virtual node does not know
    asm volatile("bar.sync 1, 64, 3;"); //!5 inline PTX that the virtual node does not know: "bar.sync 1, 64, 3"
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0; @p st.global.u32 [%0], %1; }" ::"l"(out), "r"(1)); //!5 inline PTX that the virtual node does not know: "@p st.global.u32 [$0], $1"
    asm volatile("mov.u32 %0, %%pm0;" : "=r"(*out)); //!5 inline PTX that the virtual node does not know: "mov.u32 $0, %pm0"
    asm volatile("vadd.u32.u32.u32.sat %0, %1, %1;" : "=r"(*out) : "r"(1)); //!5 inline PTX that the virtual node does not know: "vadd.u32.u32.u32.sat $0, $1, $1"
    asm volatile("vmad.s32.s32.s32.shr7 %0, %1, %1, %1;" : "=r"(*out) : "r"(1)); //!5 inline PTX that the virtual node does not know: "vmad.s32.s32.s32.shr7
    asm volatile("vadd.s32.s32.s32 %0.h1, %1, %1, %1;" : "=r"(*out) : "r"(1)); //!5 inline PTX that the virtual node does not know: "vadd.s32.s32.s32 $0.h1
    asm volatile("// a comment\n cp.async.bulk.tensor.1d.shared::cluster.global.tile [%0];" ::"l"(out)); //!5 inline PTX that the virtual node does not know: "cp.async.bulk.tensor
}
