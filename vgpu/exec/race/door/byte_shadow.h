/* SPDX-License-Identifier: MIT
 * byte_shadow.h: notes of single bytes. Where a kernel uses bytes or halfwords, the cell of their
 * word names four of its own, one a byte.
 */
#ifndef VGPU_BYTE_SHADOW_H
#define VGPU_BYTE_SHADOW_H

#include "race_shadow.h"

#define BYTE_CELLS_MARK (1ull << 63)

/* The four cells of `cell`'s bytes; they start as copies of it. `stamp`: of the present interval,
 * without BYTE_CELLS_MARK. NULL: there is no more room for such cells. */
struct cell *byte_cells_make(struct cell *cell, uint64_t stamp);

/* Those of a cell that is marked; NULL: they were forgotten since. */
struct cell *byte_cells_of(const struct cell *cell);

/* Forgets all: cells that were marked up to `stamp` name nothing any more. */
void byte_cells_forget(uint64_t stamp);

#endif
