/* SPDX-License-Identifier: MIT
 * work_costs.h: what one instruction of LLVM costs a GPU: how many of its own instructions, and of
 * which kind, and how long the next one that needs the result waits.
 */
#ifndef VGPU_CC_WORK_COSTS_H
#define VGPU_CC_WORK_COSTS_H

#include "module.h"

struct cc_cost {
    uint32_t slots;                      /* instructions of any kind */
    uint32_t integers, doubles, special; /* those of slower units among them */
    uint32_t chain;                      /* cycles until the result is there */
    uint32_t loads;                      /* 1: it comes from global memory */
    bool orders;                         /* what follows waits for all that came before */
};

struct cc_cost cc_cost_of(struct cc_lowering *l, LLVMValueRef instruction);

/* A product of floating-point numbers that nvcc makes one `fma` of with the addition that uses it,
 * which rounds once; here both are rounded. */
bool cc_is_rounded_twice(LLVMValueRef instruction);

#endif
