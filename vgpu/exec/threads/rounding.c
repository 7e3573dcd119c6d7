/* SPDX-License-Identifier: MIT
 * rounding.c: sets the processor's rounding mode, for __fadd_rd and similar functions
 * (vgpu/include/vgpu/device_round.h).
 */
#include "exec.h"

/* 0 to nearest, 1 down, 2 up, 3 to zero */
OFFERED void vgpu_set_rounding(unsigned int mode);
OFFERED void vgpu_set_rounding(unsigned int mode)
{
#ifdef __x86_64__
    __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~0x6000u) | mode << 13);
#else
    uint64_t control, of_mode = mode == 1 ? 2 : mode == 2 ? 1 : mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control = (control & ~(3ull << 22)) | of_mode << 22;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}
