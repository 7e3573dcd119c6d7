/* SPDX-License-Identifier: MIT
 * bank.h: how often lanes of a warp access different words of one bank of shared memory.
 *
 * Shared memory has 32 banks of 4 bytes; word w is in bank w % 32. A warp's access takes as many
 * wavefronts as the bank that is asked for the most different words; on an H200 each costs its
 * processor a cycle (tests/recorded/hgx-h200-4/banks.txt). Lanes run one after the other here, so
 * what they asked for together is found by the place in the code and by how often each lane has
 * come there. Like sectors (sample.h) it is measured on the grid's first block, the first
 * BANK_TURNS of each lane at a place, and is taken to be the same everywhere.
 */
#ifndef VGPU_BANK_H
#define VGPU_BANK_H

#include "exec.h"

enum { BANKS = 32, BANK_BYTES = 4, BANK_TURNS = 16, BANK_PLACES = 16 };

/* An access of the sampled block's running thread to shared memory. */
void bank_note(uint64_t address, uint64_t bytes, bool write, uint64_t pc);

/* The sampled block has ended: adds what was noted to its run's. */
void bank_sum(struct run *run);

/* Works out conflicts, conflict_ways and conflict_where in `counts`. */
void bank_apply(const struct run *run, struct vgpu_run_counts *counts);

#endif
