/* SPDX-License-Identifier: MIT
 * footprint.h: which bytes of device and pinned memory a run reads, writes, and uses by atomics.
 * The node compares them with what other operations use (race.h there).
 *
 * Each byte has a bit in a cell: one byte of cells for four bytes of memory, for each use. Cells
 * are allocated for 16 KiB of memory at a time, on first use. A store to a cell needs no load, and
 * concurrent stores by worker processes are idempotent, so no lock is needed. When the run stops,
 * cells are converted to spans. Volatile accesses are left out: kernels communicate by them.
 */
#ifndef VGPU_FOOTPRINT_H
#define VGPU_FOOTPRINT_H

#include <string.h>

#include "exec.h"

#define FOOTPRINT_BLOCK (16u << 10)
#define FOOTPRINT_CELLS (FOOTPRINT_BLOCK / 4)

extern bool footprint_on;         /* access_footprint */
extern bool footprint_atomics;    /* some cells of atomics are set */
extern uint32_t *footprint_block; /* by address: number of its block of cells; 0: none */
extern uint8_t *footprint_cells;

/* The block of cells of `address`, allocated if necessary; 0: no more are left. */
uint32_t footprint_make(uint64_t address);

/* `run` continues, if its footprint is wanted; it stops: its cells are added to its spans. */
void footprint_begin(const struct run *run);
void footprint_end(struct run *run);

/* Sends the spans of `run`, which has ended. */
void footprint_send(struct run *run);
void footprint_free(struct run *run);

static inline uint8_t *footprint_at(uint64_t address, enum vgpu_use use)
{
    uint64_t block = (address - VGPU_ARENA_VA) / FOOTPRINT_BLOCK;
    uint32_t number = footprint_block[block];
    if (UNLIKELY(!number))
        number = footprint_make(address);
    return footprint_cells + ((uint64_t)number * VGPU_USES + use) * FOOTPRINT_CELLS +
           address % FOOTPRINT_BLOCK / 4;
}

/* A range of any length and alignment. */
void footprint_range(uint64_t address, uint64_t bytes, enum vgpu_use use);

/* An access of 1, 2, 4, 8 or 16 bytes, aligned, in a window up to WINDOW_HOST. */
static inline void footprint_note(uint64_t address, uint32_t bytes, enum vgpu_use use)
{
    uint8_t *cell = footprint_at(address, use);
    if (bytes == 4) {
        *cell = 0x0f;
    } else if (bytes < 4) {
        *cell |= (uint8_t)(((1u << bytes) - 1) << (address % 4));
    } else if (bytes == 8) {
        memset(cell, 0x0f, 2);
    } else {
        memset(cell, 0x0f, 4);
    }
}

#endif
