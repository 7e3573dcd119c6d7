/* SPDX-License-Identifier: MIT
 * arena.h: allocates ranges of [0, size), first fit from the lowest address, so that a program that
 * frees and allocates again gets the same address, as recorded on hardware.
 */
#ifndef VGPU_ARENA_H
#define VGPU_ARENA_H

#include <stdint.h>

struct arena_range {
    /* `bytes` is the requested size; the space used is rounded up to the granule. */
    uint64_t offset, bytes;
    void *user;
    /* Never 0, and unique among all ranges, past and present, of the arenas that share a counter.
     */
    uint64_t serial;
};

struct arena {
    uint64_t size, granule;
    uint64_t *serials;         /* the counter of ranges that it shares with other arenas */
    uint64_t taken_bytes;      /* rounded */
    struct arena_range *range; /* sorted by offset */
    int count, room, spare;    /* spare: number of unused entries before the first range */
    /* [k]: no gap before this range has 2^k bytes, so a search can begin here. */
    int first_gap[64];
    uint64_t looks; /* gaps examined by arena_take so far */
    uint64_t moves; /* ranges moved in the array so far */
};

#define ARENA_NONE UINT64_MAX

/* `serials`, 0 at first, must remain as long as the arenas that count with it. */
void arena_init(struct arena *a, uint64_t size, uint64_t granule, uint64_t *serials);
void arena_clear(struct arena *a);

/* Allocates `bytes` (not 0). Returns the offset, or ARENA_NONE if no gap is large enough. */
uint64_t arena_take(struct arena *a, uint64_t bytes, void *user);

/* The same at a multiple of `alignment`, which is one of the granule; examines all gaps. */
uint64_t arena_take_aligned(struct arena *a, uint64_t bytes, uint64_t alignment, void *user);

/* As arena_take, in the highest gap, for memory that must not reuse a program's addresses. */
uint64_t arena_take_high(struct arena *a, uint64_t bytes, void *user);

/* The range that contains `offset`, or NULL. Valid until the next arena_take or arena_give. */
struct arena_range *arena_find(const struct arena *a, uint64_t offset);

/* The index of the first range that ends above `offset`; a->count if there is none. */
int arena_first_above(const struct arena *a, uint64_t offset);

/* Frees the range that starts at `offset`. Returns 0, or -1 if there is none. */
int arena_give(struct arena *a, uint64_t offset);

#endif
