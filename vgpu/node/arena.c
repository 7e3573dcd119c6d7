/* SPDX-License-Identifier: MIT
 * arena.c: first fit over a sorted array; see arena.h.
 */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

static uint64_t rounded(const struct arena *a, uint64_t bytes)
{
    return (bytes + a->granule - 1) / a->granule * a->granule;
}

void arena_init(struct arena *a, uint64_t size, uint64_t granule)
{
    memset(a, 0, sizeof *a);
    a->size = size;
    a->granule = granule;
}

void arena_clear(struct arena *a)
{
    free(a->range);
    arena_init(a, a->size, a->granule);
}

/* Index of the first range that ends above `offset`. */
static int first_above(const struct arena *a, uint64_t offset)
{
    int low = 0, high = a->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (a->range[middle].offset + rounded(a, a->range[middle].bytes) <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int insert(struct arena *a, int index, struct arena_range range)
{
    if (a->count == a->room) {
        int room = a->room ? 2 * a->room : 16;
        struct arena_range *grown = realloc(a->range, (size_t)room * sizeof *grown);
        if (!grown)
            return -1;
        a->range = grown;
        a->room = room;
    }
    memmove(a->range + index + 1, a->range + index, (size_t)(a->count - index) * sizeof range);
    a->range[index] = range;
    a->count++;
    return 0;
}

uint64_t arena_take(struct arena *a, uint64_t bytes, void *user)
{
    uint64_t space = rounded(a, bytes), at = 0;
    if (bytes == 0 || space < bytes || space > a->size)
        return ARENA_NONE;
    int i = 0;
    for (; i < a->count; i++) {
        if (a->range[i].offset - at >= space)
            break;
        at = a->range[i].offset + rounded(a, a->range[i].bytes);
    }
    if (a->size - at < space || insert(a, i, (struct arena_range){at, bytes, user}) != 0)
        return ARENA_NONE;
    a->taken_bytes += space;
    return at;
}

uint64_t arena_take_high(struct arena *a, uint64_t bytes, void *user)
{
    uint64_t space = rounded(a, bytes), end = a->size;
    if (bytes == 0 || space < bytes || space > a->size)
        return ARENA_NONE;
    for (int i = a->count; i >= 0; i--) {
        uint64_t from = i ? a->range[i - 1].offset + rounded(a, a->range[i - 1].bytes) : 0;
        if (end - from >= space) {
            if (insert(a, i, (struct arena_range){end - space, bytes, user}) != 0)
                return ARENA_NONE;
            a->taken_bytes += space;
            return end - space;
        }
        if (i)
            end = a->range[i - 1].offset;
    }
    return ARENA_NONE;
}

struct arena_range *arena_find(const struct arena *a, uint64_t offset)
{
    int i = first_above(a, offset);
    if (i == a->count || offset < a->range[i].offset ||
        offset >= a->range[i].offset + a->range[i].bytes)
        return NULL;
    return &a->range[i];
}

int arena_give(struct arena *a, uint64_t offset)
{
    int i = first_above(a, offset);
    if (i == a->count || a->range[i].offset != offset)
        return -1;
    a->taken_bytes -= rounded(a, a->range[i].bytes);
    a->count--;
    memmove(a->range + i, a->range + i + 1, (size_t)(a->count - i) * sizeof *a->range);
    return 0;
}
