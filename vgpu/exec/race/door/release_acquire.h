/* SPDX-License-Identifier: MIT
 * release_acquire.h: happens-before between threads by fences and flags.
 *
 * A thread that writes, then calls a fence, then stores to a flag (by a volatile store or an
 * atomic) releases its writes, everything that it acquired before, and everything that its block
 * did before its last barrier. A thread that reads the flag acquires these. A fence of block scope
 * releases to the thread's own block only. The reader needs no fence here: a GPU keeps the order of
 * dependent loads, which readers rely on.
 */
#ifndef VGPU_RELEASE_ACQUIRE_H
#define VGPU_RELEASE_ACQUIRE_H

#include "exec.h"

/* The running thread calls a fence (scope as vgpu_fence's); stores to a flag; reads a flag. An
 * atomic does both, the read first. */
void visibility_fence(int scope);
void visibility_store(uint64_t address, bool atomic);
void visibility_load(uint64_t address);

/* A block starts. At a barrier all its threads acquire what any of them has acquired; likewise
 * lanes of a warp. */
void visibility_block_starts(struct block *block);
void visibility_block_meets(struct block *block);
void visibility_lanes_meet(struct warp *warp, uint32_t lanes);

/* A barrier of some threads: the running one releases what it has done; returns the message that
 * includes this and `others`. A thread acquires it. */
uint32_t visibility_release(uint32_t others);
void visibility_acquire(struct thread *thread, uint32_t message);

/* Whether the running thread has acquired what `thread` of `block` did in `interval`. */
bool is_visible_to_me(uint64_t block, uint32_t thread, uint64_t interval);

/* Whether any thread has released anything since visibility_forget. */
bool visibility_is_used(void);

/* No run is left: discards all clocks. */
void visibility_forget(void);

#endif
