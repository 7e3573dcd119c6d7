/* SPDX-License-Identifier: MIT
 * race_shadow.h: shadow memory: two notes for each four bytes of memory that kernels access: the
 * last write, and the reads since. race.c describes a note.
 *
 * The shadow of an address lies at a fixed place, in one window for each window of memory, and is
 * mapped on first touch (by traps.c, as with any first touch). The shadow is four times as large as
 * the memory that the kernel uses; if it reaches its limit, all notes so far are dropped.
 */
#ifndef VGPU_RACE_SHADOW_H
#define VGPU_RACE_SHADOW_H

#include "exec.h"

#define SHADOW_VA 0x3a0000000000ull
#define SHADOW_END (SHADOW_VA + ((uint64_t)(WINDOW_STACK + 1) << 40))

struct cell {
    uint64_t write, read; /* 0: none */
};

/* The shadow cell of the four bytes around `address`, which is in a window below the stacks' or,
 * for the last window, among an image's variables. */
static inline struct cell *shadow_of(uint64_t address)
{
    uint64_t window = window_of(address);
    if (UNLIKELY(window > WINDOW_STACK))
        window = WINDOW_STACK;
    uint64_t inside = (address << 2) & ((1ull << 40) - 1) & ~15ull;
    return (struct cell *)(SHADOW_VA + (window << 40) + inside); /* NOLINT */
}

/* Handles a fault at `address`: true if it was in the shadow, which is mapped now. */
bool shadow_touch(uint64_t address);

/* Unmaps the shadow if it is large. No run may need its notes any more. */
void shadow_trim(void);

#endif
