/* SPDX-License-Identifier: MIT
 * spare.h: pages of freed chunks. To get a chunk's pages from the operating system and to give them
 * back takes several times as long as to fill them, and most programs allocate again soon, at the
 * same place. So the pages of the latest chunks that were freed stay where they are. They are
 * nobody's, count for no limit, and are poisoned like fresh ones when the chunk is touched again.
 */
#ifndef VGPU_SPARE_H
#define VGPU_SPARE_H

#include <stdint.h>

/* `bytes` at `offset`, whole chunks, were freed: gives their pages back, sooner or later. */
void spare_take(int device, uint64_t offset, uint64_t bytes);

/* Gives all of them back: the next program must not find what this one has left. */
void spare_empty(void);

#endif
