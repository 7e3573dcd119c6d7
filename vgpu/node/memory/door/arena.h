/* SPDX-License-Identifier: MIT
 * arena.h: hands out ranges of [0, size), lowest address first, so that a program that frees and
 * allocates again gets the same address again, as recorded on hardware.
 */
#ifndef VGPU_ARENA_H
#define VGPU_ARENA_H

#include <stdint.h>

struct arena_range {
    uint64_t offset, bytes; /* bytes: as asked for; the space taken is rounded up to the granule */
    void *user;
    uint64_t serial; /* no other range, of any arena, has or had it; not 0 */
};

struct arena {
    uint64_t size, granule;
    uint64_t taken_bytes;      /* rounded */
    struct arena_range *range; /* sorted by offset */
    int count, room, spare;    /* so many of the places are free before the first range */
    int first_gap[64]; /* [k]: before this range no gap has 2^k bytes: nobody looks there again */
    uint64_t looks;    /* gaps that arena_take has looked at, so far */
    uint64_t moves;    /* ranges that have changed their place in the array */
};

#define ARENA_NONE UINT64_MAX

void arena_init(struct arena *a, uint64_t size, uint64_t granule);
void arena_clear(struct arena *a);

/* Takes `bytes` (not 0); the offset, or ARENA_NONE when no gap is large enough. */
uint64_t arena_take(struct arena *a, uint64_t bytes, void *user);

/* The same from the other end: the highest gap, for what must not lie where a program's memory was.
 */
uint64_t arena_take_high(struct arena *a, uint64_t bytes, void *user);

/* The range that holds `offset`, or NULL. Valid until the next take or give. */
struct arena_range *arena_find(const struct arena *a, uint64_t offset);

/* Index of the first range that ends above `offset`; a->count where none does. */
int arena_first_above(const struct arena *a, uint64_t offset);

/* Gives the range that starts at `offset` back. 0, or -1 when none does. */
int arena_give(struct arena *a, uint64_t offset);

#endif
