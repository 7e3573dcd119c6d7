/* SPDX-License-Identifier: MIT
 * chunk_cache.h: a cache of the pages of freed chunks. Getting pages from the operating system and
 * returning them takes several times as long as filling them, and most programs soon allocate again
 * at the same place. So the chunks freed last keep their pages. They belong to no allocation, do
 * not count towards limits, and are poisoned like new ones at their next use.
 */
#ifndef VGPU_CHUNK_CACHE_H
#define VGPU_CHUNK_CACHE_H

#include <stdint.h>

/* Whole chunks, `bytes` at `offset`, were freed: caches their pages or returns them. */
void chunk_cache_add(int device, uint64_t offset, uint64_t bytes);

/* Returns all cached pages if the memory limit is near. */
void chunk_cache_make_room(void);

/* Returns all cached pages, so that the next program cannot find data of this one. */
void chunk_cache_empty(void);

#endif
