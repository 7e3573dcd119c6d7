/* SPDX-License-Identifier: MIT
 * reserve.h: a memory reserve for the graph of operations and the clock. Operations that were
 * accepted must be completed, so these functions never return NULL: if malloc fails, they use a
 * reserve that exists from the start. When half of it is in use the node accepts no more work
 * (reserve_is_low); the other half suffices to complete what is under way, which frees the reserve
 * again.
 */
#ifndef VGPU_RESERVE_H
#define VGPU_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

#define RESERVE_BYTES (16u << 20)

/* Zeroed memory. */
void *reserve_take(size_t bytes);
/* Reallocates `old` (or NULL), of which `old_bytes` are copied, to `bytes`; the rest is
 * uninitialised. */
void *reserve_grow(void *old, size_t old_bytes, size_t bytes);
void reserve_give(void *memory); /* memory of both functions above, or NULL */

bool reserve_is_low(void);

#endif
