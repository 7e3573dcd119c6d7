/* SPDX-License-Identifier: MIT
 * race.h: race detection: two threads of a kernel that access the same bytes without happens-before
 * order, at least one of them by a write.
 *
 * Threads run one after another here, so a race never shows by itself. Order is only what the
 * programming model promises: __syncthreads orders a block's threads, __syncwarp a warp's lanes (a
 * shuffle orders nothing), and release by a fence and a flag or an atomic orders the threads that
 * acquire it (release_acquire.h). An *interval* is what a warp executes between two of these;
 * intervals are numbered as they begin, across all blocks and runs of this context, and a note
 * (race_shadow.h) holds the interval and thread of an access. So "since the last barrier" is a
 * comparison of two numbers.
 *
 * Two accesses that are both volatile or atomic are no race, except volatile ones by one warp to
 * shared memory: such code assumes lockstep. A store that does not change the value is no race
 * either: it is common, and harmless, that many threads write the same value.
 */
#ifndef VGPU_RACE_H
#define VGPU_RACE_H

#include "exec.h"
#include "check.h"

extern bool race_on;                    /* the running kernel is checked */
extern enum vgpu_access_mode race_mode; /* of the current access */

/* A run begins; its kernel runs, or is suspended; it ends. */
void race_run_begins(struct run *run);
void race_run_goes(const struct run *run);
void race_run_stops(void);
/* No run is left: discards all notes. */
void race_forget(void);

/* Events that begin intervals. */
void race_block_starts(struct block *block);
void race_barrier(struct block *block);
void race_warp_synced(struct warp *warp, uint32_t lanes);
void race_grid_synced(struct run *run);
void race_cluster_synced(struct cluster *cluster);
/* The running thread's warp continues in a new interval, which by itself orders nothing. */
void race_new_interval(void);

/* An access of device code to a window below the stacks', or to an image's variable. */
void race_access(uint64_t address, uint64_t bytes, bool write, uint64_t pc);
/* The same for four aligned bytes. */
void race_word(uint64_t address, bool write, uint64_t pc);

/* Whether a kernel of this context has stored to the word of `address`, in this run or before. */
bool race_was_stored(uint64_t address);

#endif
