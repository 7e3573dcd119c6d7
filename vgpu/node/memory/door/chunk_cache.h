/* SPDX-License-Identifier: MIT
 * chunk_cache.h: pages of freed chunks. To get a chunk's pages from the operating system and to
 * give them back takes several times as long as to fill them, and most programs allocate again
 * soon, at the same place. So the pages of the latest chunks that were freed stay where they are.
 * They belong to no allocation, count for no limit, and are poisoned like fresh ones when the chunk
 * is touched again.
 */
#ifndef VGPU_CHUNK_CACHE_H
#define VGPU_CHUNK_CACHE_H

#include <stdint.h>

/* `bytes` at `offset`, whole chunks, were freed: gives their pages back, sooner or later. */
void chunk_cache_add(int device, uint64_t offset, uint64_t bytes);

/* Gives all of them back where the memory limit is near. */
void chunk_cache_make_room(void);

/* Gives all of them back: the next program must not find what this one has left. */
void chunk_cache_empty(void);

#endif
