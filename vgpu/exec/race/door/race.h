/* SPDX-License-Identifier: MIT
 * race.h: two threads of a kernel that use the same bytes, one of which writes, and nothing orders
 * them.
 *
 * Threads run one after another here, so nothing ever goes wrong by itself. What counts is what the
 * programming model promises: a __syncthreads orders a block's threads, a __syncwarp a warp's lanes
 * (a shuffle orders nothing), a fence and a flag or an atomic whoever has seen it
 * (release_acquire.h), and nothing else. A *interval* is what a warp does between two of these;
 * intervals are numbered as they begin, for all blocks and runs of this context together, and a
 * note (race_shadow.h) names the interval and thread of an access. So "since the last barrier" is a
 * comparison of two numbers.
 *
 * Two accesses that both are volatile or atomic are no race, but for volatile ones of one warp to
 * shared memory: that is code which believes in lockstep. A store that changes nothing is none
 * either: many threads that write the same value are usual, and harmless.
 */
#ifndef VGPU_RACE_H
#define VGPU_RACE_H

#include "exec.h"
#include "check.h"

extern bool race_on;                    /* the running kernel is looked at */
extern enum vgpu_access_mode race_mode; /* of the access that is being made */

/* A run begins; its kernel goes on, or stops for now; it ends. */
void race_run_begins(struct run *run);
void race_run_goes(const struct run *run);
void race_run_stops(void);
/* No run is left: what was noted of them is of no use any more. */
void race_forget(void);

/* Where intervals begin. */
void race_block_starts(struct block *block);
void race_barrier(struct block *block);
void race_warp_synced(struct warp *warp, uint32_t lanes);
void race_grid_synced(struct run *run);
/* The running thread's warp goes on in a new interval, which orders nothing by itself. */
void race_new_interval(void);

/* An access of device code to a window before the stacks', or to an image's variable. */
void race_access(uint64_t address, uint64_t bytes, bool write, uint64_t pc);

/* A kernel of this context stored to the word of `address`, in this run or before. */
bool race_was_stored(uint64_t address);

#endif
