// SPDX-License-Identifier: MIT
// Inline PTX that has no meaning here is refused.
#define ASM asm
#define NOTHING ASM volatile("brkpt;")

__global__ void assembly(int *out)
{
    asm volatile("mov.u32 %0, %%lanemask_xx;" : "=r"(*out)); //!5 inline PTX that the virtual node does not know
    NOTHING; //!5 inline PTX that the virtual node does not know
    asm volatile("ld.volatile.volatile.global.u32 %0, [%1];" : "=r"(*out) : "l"(out)); //!5 inline PTX that the virtual node does not know
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(out), "r"(1)); //!5 inline PTX that the virtual node does not know
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 %0, %1;" : "=r"(*out) : "r"(1)); //!5 inline PTX that the virtual node does not know
}
