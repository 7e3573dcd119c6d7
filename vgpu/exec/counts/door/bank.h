/* SPDX-License-Identifier: MIT
 * bank.h: bank conflicts: lanes of a warp that access different words of one bank of shared memory.
 *
 * Shared memory has 32 banks of 4 bytes; word w is in bank w % 32. An access of a warp takes as
 * many wavefronts as the largest number of different words in one bank; on an H200 each costs its
 * SM a cycle (tests/recorded/hgx-h200-4/banks.txt). Lanes run one after the other here, so accesses
 * of a warp are matched by the place in the code and by how often each lane has reached it. As with
 * sectors (sample.h), the first block of the grid is sampled, with the first BANK_TURNS of each
 * lane at a place, and the result is applied to all blocks.
 */
#ifndef VGPU_BANK_H
#define VGPU_BANK_H

#include "exec.h"

enum { BANKS = 32, BANK_BYTES = 4, BANK_TURNS = 16, BANK_PLACES = 16 };

/* Records an access to shared memory by the running thread of the sampled block. */
void bank_note(uint64_t address, uint64_t bytes, bool write, uint64_t pc);

/* The sampled block has ended: adds its counts to the run's. */
void bank_sum(struct run *run);

/* Computes conflicts, conflict_ways and conflict_where in `counts`. */
void bank_apply(const struct run *run, struct vgpu_run_counts *counts);

#endif
