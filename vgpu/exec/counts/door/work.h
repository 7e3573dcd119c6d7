/* SPDX-License-Identifier: MIT
 * work.h: what the threads of a grid's first block do besides accesses: their instructions, chains
 * of results that wait for each other (vgpu_work in image.h, counted by the code itself), and
 * atomics that meet (contention). The node takes all blocks to be like it
 * (vgpu/node/clock/kernel_time.c).
 *
 * The counters of vgpu_work are one for the process: at each switch to a thread of that block they
 * are added to those of the thread that ran before.
 */
#ifndef VGPU_EXEC_WORK_H
#define VGPU_EXEC_WORK_H

#include "exec.h"

extern struct block *work_block; /* the block that is counted, or NULL */

void work_block_starts(struct block *block);
void work_block_ends(const struct block *block);

/* A thread of the block is switched to; the block is left, to be resumed later or not. */
void work_switch(struct thread *next);
void work_pause(void);

/* The addresses of the lanes of a warp at one turn. All zero: none yet. */
struct lane_turn {
    uint32_t warp, present; /* its number plus 1; which lanes have come, and have an address */
    uint64_t address[WARP_LANES];
};

/* Notes the thread's address; returns with how many of its neighbours' it shares `unit` bytes, a
 * power of two (`apart`: but not all of the address). So the sum does not depend on the order of
 * lanes. */
uint32_t lanes_joined(struct lane_turn *turn, const struct thread *thread, uint64_t address,
                      uint32_t unit, bool apart);

/* An atomic of the running thread on global memory, in the first two blocks of a grid. Neighbouring
 * lanes of a warp that use a sector together, at different words or by integers, are one request to
 * L2. Which requests meet is known by lines of 128 bytes: those of the first block, and how many
 * others the second one uses. */
void contention_note(uint64_t address, bool is_float);

/* So many atomics in a block of which no more is known. */
void contention_add(struct run *run, uint64_t window, uint64_t times);
/* In a process that runs some of the blocks: it begins to count; and what it has counted is added
 * to the whole. */
void contention_begin_part(struct run *run);
void contention_merge(struct run *run, const struct contention *part);

/* Whether this block, too, is run by the careful form for that. */
bool contention_wants(const struct run *run, uint64_t number);
void contention_block_starts(const struct block *block);

/* Computes atomic_requests and atomic_lines in `counts`. */
void contention_apply(const struct run *run, struct vgpu_run_counts *counts);

#endif
