/* SPDX-License-Identifier: MIT
 * schedule.h: VGPU_SCHEDULE=seed permutes what the programming model leaves open, the same way in
 * every run: the order of blocks, warps and lanes, and of operations that nothing orders. A program
 * that is right cannot tell.
 */
#ifndef VGPU_SCHEDULE_H
#define VGPU_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The environment's seed; 0: not set, the usual orders. */
uint64_t vgpu_schedule(void);

/* False: it is set and no whole number; why in `error`. */
bool vgpu_schedule_is_right(char *error, size_t room);

/* The next number of a sequence that `state` (never 0) holds. */
static inline uint64_t vgpu_schedule_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545F4914F6CDD1Dull >> 16;
}

#endif
