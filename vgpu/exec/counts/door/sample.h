/* SPDX-License-Identifier: MIT
 * sample.h: how much of what a kernel reads and writes has to be moved.
 *
 * Memory moves in sectors of 32 bytes: threads that use a sector together move it once, a thread
 * that uses 4 bytes of one moves 32. A kernel's bytes are counted exactly (counters.h); how many
 * bytes of sectors they need is measured on a sample, the first SAMPLE_ACCESSES of each thread of
 * the grid's first block, and is taken to be the same everywhere. Of a block, what was moved once
 * stays at hand for it (its warps' coalescing and the caches, of a simple kind); what
 * blocks share is the node's business (vgpu/node/clock/op_flows.c).
 *
 * The sample also says how many accesses the block's busiest thread has made (vgpu_run_counts), for
 * as long as all of them are looked at.
 */
#ifndef VGPU_SAMPLE_H
#define VGPU_SAMPLE_H

#include "exec.h"

#define SECTOR_BYTES 32

extern struct block *sample_block; /* the one that is looked at, or NULL */

/* `run` begins, and is sampled unless another one is; it ends. */
void sample_begin(struct run *run);
void sample_end(struct run *run);

/* The first block of a run was started; a block has left. */
void sample_block_starts(struct block *block);
void sample_block_ends(const struct block *block);

/* Is that block of the run to be looked at? */
bool sample_wants(const struct run *run, uint64_t number);

/* A thread of the sampled block starts: from here on its accesses take the slow way. */
void sample_thread_starts(struct thread *thread);

/* The sampled block runs again. */
void sample_goes_on(void);

/* An access of device code to a window up to WINDOW_SHARED, which is bank.h's, while they take the
 * slow way. */
void sample_note(uint64_t window, uint64_t address, uint64_t bytes, bool write);

/* Works out read_moved and write_moved from the bytes in `counts`. */
void sample_apply(const struct run *run, struct vgpu_run_counts *counts);

#endif
