/* SPDX-License-Identifier: MIT
 * release_acquire.h: what threads know of each other's accesses by fences and flags.
 *
 * Who has written, then called a fence, then stored to a flag (by a volatile store or an atomic)
 * has told all of that to whoever reads the flag, and with it all that it was told before and all
 * that its block did before its last barrier. A fence of a block's scope tells only the own block.
 * Whether the reader calls a fence, too, is not asked: a GPU keeps the order of loads that depend
 * on each other, and that is what readers do.
 */
#ifndef VGPU_RELEASE_ACQUIRE_H
#define VGPU_RELEASE_ACQUIRE_H

#include "exec.h"

/* The running thread calls a fence (scope as vgpu_fence's); it stores to a flag, or reads one; an
 * atomic does both, the reading first. */
void visibility_fence(int scope);
void visibility_store(uint64_t address, bool atomic);
void visibility_load(uint64_t address);

/* A block starts. All of it knows what any of its threads knows; the same for lanes of a warp. */
void visibility_block_starts(struct block *block);
void visibility_block_meets(struct block *block);
void visibility_lanes_meet(struct warp *warp, uint32_t lanes);

/* The running thread knows what `thread` of `block` did in `interval`. */
bool is_visible_to_me(uint64_t block, uint32_t thread, uint64_t interval);

/* Anybody has told anybody anything since visibility_forget. */
bool visibility_is_used(void);

/* No run is left: nothing needs to be known any more. */
void visibility_forget(void);

#endif
