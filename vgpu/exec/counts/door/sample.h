/* SPDX-License-Identifier: MIT
 * sample.h: how many bytes the reads and writes of a kernel move.
 *
 * Memory moves in sectors of 32 bytes: threads that use a sector together move it once, a thread
 * that uses 4 bytes of one moves 32. A kernel's bytes are counted exactly (counters.h); the ratio
 * of moved to used bytes is measured on a sample, the first SAMPLE_ACCESSES of each thread of the
 * grid's first block, and applied to all blocks. Within the block a sector that is read is counted
 * once (a simple model of coalescing and caches), one that is written once for each warp, since
 * stores go to L2; the node models sharing between blocks
 * (vgpu/node/clock/op_flows.c).
 *
 * The sample also yields the number of accesses of the block's busiest thread (vgpu_run_counts), as
 * long as all of its accesses are sampled.
 */
#ifndef VGPU_SAMPLE_H
#define VGPU_SAMPLE_H

#include "exec.h"

#define SECTOR_BYTES 32

extern struct block *sample_block; /* the sampled block, or NULL */

/* `run` begins, and is sampled unless another run is; it ends. */
void sample_begin(struct run *run);
void sample_end(struct run *run);

/* In a worker that was forked while the sampled block paused: it samples nothing. */
void sample_leave(void);

/* The first block of a run was started; a block has ended. */
void sample_block_starts(struct block *block);
void sample_block_ends(const struct block *block);

/* Whether that block of the run is to be sampled. */
bool sample_wants(const struct run *run, uint64_t number);

/* A thread of the sampled block starts: enables the slow path for its accesses. */
void sample_thread_starts(struct thread *thread);

/* The sampled block is resumed. */
void sample_goes_on(void);

/* Records an access on the slow path to a window below WINDOW_SHARED; bank.h handles that one. */
void sample_note(uint64_t window, uint64_t address, uint64_t bytes, bool write);

/* Computes read_moved and write_moved from the bytes in `counts`. */
void sample_apply(const struct run *run, struct vgpu_run_counts *counts);

#endif
