/* SPDX-License-Identifier: MIT
 * schedule.h: VGPU_SCHEDULE=seed permutes what the programming model leaves open, in the same way
 * in every run: the order of blocks, warps and lanes, and of operations that nothing orders. A
 * correct program behaves the same with every seed. With VGPU_SCHEDULE=weak or weak:seed kernels
 * also load older values, and store in another order, as far as PTX's memory model allows
 * (vgpu/exec/weak).
 */
#ifndef VGPU_SCHEDULE_H
#define VGPU_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The seed in the environment; 0: not set, use the default order. */
uint64_t vgpu_schedule(void);

/* Whether kernels load older values, too. */
bool vgpu_schedule_is_weak(void);

/* False if the variable is set to anything else; the reason is stored in `error`. */
bool vgpu_schedule_is_right(char *error, size_t room);

/* The next number of the pseudo-random sequence whose state is `state`, which is never 0. */
static inline uint64_t vgpu_schedule_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545F4914F6CDD1Dull >> 16;
}

#endif
