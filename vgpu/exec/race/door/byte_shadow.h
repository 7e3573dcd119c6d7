/* SPDX-License-Identifier: MIT
 * byte_shadow.h: shadow cells for single bytes. Where a kernel accesses bytes or halfwords, the
 * cell of the word refers to four separate cells, one per byte.
 */
#ifndef VGPU_BYTE_SHADOW_H
#define VGPU_BYTE_SHADOW_H

#include "race_shadow.h"

#define BYTE_CELLS_MARK (1ull << 63)

/* Allocates four cells for the bytes of `cell`, as copies of it, and marks `cell`. `stamp`: a note
 * of the current interval, without BYTE_CELLS_MARK. NULL: no room for more cells. */
struct cell *byte_cells_make(struct cell *cell, uint64_t stamp);

/* The four cells of a marked cell; NULL: they have been discarded. */
struct cell *byte_cells_of(const struct cell *cell);

/* Discards all byte cells: marks with a stamp up to `stamp` are no longer valid. */
void byte_cells_forget(uint64_t stamp);

#endif
