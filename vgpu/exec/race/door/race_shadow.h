/* SPDX-License-Identifier: MIT
 * race_shadow.h: two words of notes for each four bytes of memory that kernels touch: who wrote
 * them last, who has read them since. race.h says what is in a note.
 *
 * Notes lie at a fixed place for each address, in a window of their own for each of memory's, and
 * get memory when they are first touched (traps.c sees that as any first touch). Memory is four
 * times what the kernel uses; where that gets too much, the run goes on without being looked at.
 */
#ifndef VGPU_RACE_SHADOW_H
#define VGPU_RACE_SHADOW_H

#include "exec.h"

#define SHADOW_VA 0x410000000000ull
#define SHADOW_END (SHADOW_VA + ((uint64_t)(WINDOW_STACK + 1) << 40))

struct cell {
    uint64_t write, read; /* 0: nobody */
};

/* The notes of the four bytes around `address`: of a window before the stacks', or, in the last
 * window, of an image's variables. */
static inline struct cell *shadow_of(uint64_t address)
{
    uint64_t window = window_of(address);
    if (UNLIKELY(window > WINDOW_STACK))
        window = WINDOW_STACK;
    uint64_t inside = (address << 2) & ((1ull << 40) - 1) & ~15ull;
    return (struct cell *)(SHADOW_VA + (window << 40) + inside); /* NOLINT */
}

/* A fault at `address`: true if it was a note's, which has memory now. */
bool shadow_touch(uint64_t address);

/* Gives memory back if there is much of it. No run must need its notes any more. */
void shadow_trim(void);

#endif
