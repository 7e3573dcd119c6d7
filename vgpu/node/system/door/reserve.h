/* SPDX-License-Identifier: MIT
 * reserve.h: memory for the graph of operations and for the clock. What was admitted must come to
 * its end, so these never return NULL: where malloc fails they take from a reserve that is there
 * from the start. When half of it is in use the node admits no more work (reserve_is_low): the
 * other half lets what is under way end, which gives it back.
 */
#ifndef VGPU_RESERVE_H
#define VGPU_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

#define RESERVE_BYTES (16u << 20)

/* Zeroed. */
void *reserve_take(size_t bytes);
/* `old` (or NULL) with its first `old_bytes`, in `bytes`, of which the rest is not set. */
void *reserve_grow(void *old, size_t old_bytes, size_t bytes);
void reserve_give(void *memory); /* of either; NULL is nothing */

bool reserve_is_low(void);

#endif
