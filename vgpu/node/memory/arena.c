/* SPDX-License-Identifier: MIT
 * arena.c: first fit over a sorted array; see arena.h.
 */
#include "arena.h"

#include <stdbool.h>
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

/* What realloc gave; NULL before there was a range. */
static struct arena_range *storage(const struct arena *a)
{
    return a->spare ? a->range - a->spare : a->range;
}

void arena_clear(struct arena *a)
{
    free(storage(a));
    arena_init(a, a->size, a->granule);
}

int arena_first_above(const struct arena *a, uint64_t offset)
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

enum { CLASSES = sizeof((struct arena *)0)->first_gap / sizeof(int) };

static uint64_t end_of(const struct arena *a, int index)
{
    return index < 0 ? 0 : a->range[index].offset + rounded(a, a->range[index].bytes);
}

static uint64_t gap_before(const struct arena *a, int index)
{
    return (index == a->count ? a->size : a->range[index].offset) - end_of(a, index - 1);
}

/* The lowest gap of so many bytes lies before this range; the number of ranges: behind all of them,
 * if it is large enough. What is known not to be large enough is passed over: without that every
 * allocation would look at all those before it. */
static int find_gap(struct arena *a, uint64_t space)
{
    int class = 63 - __builtin_clzll(space), i = a->first_gap[class];
    bool none_yet = true; /* of 2^class bytes */
    for (uint64_t gap; i < a->count && (gap = gap_before(a, i)) < space; i++) {
        a->looks++;
        none_yet = none_yet && gap >> class == 0;
        if (none_yet)
            a->first_gap[class] = i + 1;
    }
    a->looks++;
    if (class + 1 < CLASSES && i > a->first_gap[class + 1])
        a->first_gap[class + 1] = i;
    return i;
}

static void move(struct arena *a, int to, int from, int count)
{
    memmove(a->range + to, a->range + from, (size_t)count * sizeof *a->range);
    a->moves += (uint64_t)count;
}

/* Makes a free place behind the last range. What is free before the first is used where that is
 * half of all: so many ranges have been given back since the last time. */
static bool grow_ranges(struct arena *a)
{
    struct arena_range *first = storage(a);
    if (a->spare > a->room / 2) {
        move(a, -a->spare, 0, a->count);
        a->range = first;
        a->spare = 0;
        return true;
    }
    int room = a->room ? 2 * a->room : 16;
    struct arena_range *grown = realloc(first, (size_t)room * sizeof *grown);
    if (!grown)
        return false;
    a->range = grown + a->spare;
    a->room = room;
    return true;
}

/* What lies before it, or what lies behind it, makes way: the fewer. */
static int insert_range(struct arena *a, int index, struct arena_range range)
{
    static uint64_t serial;
    bool down = a->spare > 0 && index < a->count / 2;
    if (!down && a->spare + a->count == a->room && !grow_ranges(a))
        return -1;
    if (down) {
        a->range--;
        a->spare--;
        move(a, 0, 1, index);
    } else {
        move(a, index + 1, index, a->count - index);
    }
    a->range[index] = range;
    a->range[index].serial = ++serial;
    a->count++;
    for (int k = 0; k < CLASSES; k++)
        a->first_gap[k] += a->first_gap[k] > index;
    return 0;
}

uint64_t arena_take(struct arena *a, uint64_t bytes, void *user)
{
    uint64_t space = rounded(a, bytes);
    if (bytes == 0 || space < bytes || space > a->size)
        return ARENA_NONE;
    int i = find_gap(a, space);
    uint64_t at = end_of(a, i - 1);
    if (a->size - at < space || insert_range(a, i, (struct arena_range){at, bytes, user, 0}) != 0)
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
            if (insert_range(a, i, (struct arena_range){end - space, bytes, user, 0}) != 0)
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
    int i = arena_first_above(a, offset);
    if (i == a->count || offset < a->range[i].offset ||
        offset >= a->range[i].offset + a->range[i].bytes)
        return NULL;
    return &a->range[i];
}

int arena_give(struct arena *a, uint64_t offset)
{
    int i = arena_first_above(a, offset);
    if (i == a->count || a->range[i].offset != offset)
        return -1;
    a->taken_bytes -= rounded(a, a->range[i].bytes);
    for (int k = 0; k < CLASSES; k++)
        if (a->first_gap[k] > i)
            a->first_gap[k] = i;
    if (i < a->count / 2) {
        move(a, 1, 0, i);
        a->range++;
        a->spare++;
    } else {
        move(a, i, i + 1, a->count - i - 1);
    }
    a->count--;
    return 0;
}
