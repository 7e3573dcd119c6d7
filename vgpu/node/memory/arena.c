/* SPDX-License-Identifier: MIT
 * arena.c: first fit over a sorted array; see arena.h.
 */
#include "arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint64_t rounded_bytes(const struct arena *a, uint64_t bytes)
{
    return (bytes + a->granule - 1) / a->granule * a->granule;
}

void arena_init(struct arena *a, uint64_t size, uint64_t granule, uint64_t *serials)
{
    memset(a, 0, sizeof *a);
    a->size = size;
    a->granule = granule;
    a->serials = serials;
}

/* The pointer returned by realloc; NULL if there were no ranges. */
static struct arena_range *array_start(const struct arena *a)
{
    return a->spare ? a->range - a->spare : a->range;
}

void arena_clear(struct arena *a)
{
    free(array_start(a));
    arena_init(a, a->size, a->granule, a->serials);
}

int arena_first_above(const struct arena *a, uint64_t offset)
{
    int low = 0, high = a->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (a->range[middle].offset + rounded_bytes(a, a->range[middle].bytes) <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum { CLASSES = sizeof((struct arena *)0)->first_gap / sizeof(int) };

static uint64_t range_end(const struct arena *a, int index)
{
    return index < 0 ? 0 : a->range[index].offset + rounded_bytes(a, a->range[index].bytes);
}

static uint64_t gap_before(const struct arena *a, int index)
{
    return (index == a->count ? a->size : a->range[index].offset) - range_end(a, index - 1);
}

/* The index of the range after the lowest gap of at least `space` bytes; the number of ranges if
 * there is none before the last one. Starts at first_gap, so that an allocation need not examine
 * all earlier ones. */
static int find_gap(struct arena *a, uint64_t space)
{
    int class = 63 - __builtin_clzll(space), i = a->first_gap[class];
    bool none_yet = true; /* no gap of 2^class bytes found so far */
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

static void move_ranges(struct arena *a, int to, int from, int count)
{
    memmove(a->range + to, a->range + from, (size_t)count * sizeof *a->range);
    a->moves += (uint64_t)count;
}

/* Makes room for an entry after the last range. If more than half of the array is unused space
 * before the first range, moves the ranges to the front instead of enlarging it. */
static bool grow_ranges(struct arena *a)
{
    struct arena_range *first = array_start(a);
    if (a->spare > a->room / 2) {
        move_ranges(a, -a->spare, 0, a->count);
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

/* Moves the ranges before or after `index`, whichever are fewer. */
static int insert_range(struct arena *a, int index, struct arena_range range)
{
    bool down = a->spare > 0 && index < a->count / 2;
    if (!down && a->spare + a->count == a->room && !grow_ranges(a))
        return -1;
    if (down) {
        a->range--;
        a->spare--;
        move_ranges(a, 0, 1, index);
    } else {
        move_ranges(a, index + 1, index, a->count - index);
    }
    a->range[index] = range;
    a->range[index].serial = ++*a->serials;
    a->count++;
    for (int k = 0; k < CLASSES; k++)
        a->first_gap[k] += a->first_gap[k] > index;
    return 0;
}

uint64_t arena_take(struct arena *a, uint64_t bytes, void *user)
{
    uint64_t space = rounded_bytes(a, bytes);
    if (bytes == 0 || space < bytes || space > a->size)
        return ARENA_NONE;
    int i = find_gap(a, space);
    uint64_t at = range_end(a, i - 1);
    if (a->size - at < space || insert_range(a, i, (struct arena_range){at, bytes, user, 0}) != 0)
        return ARENA_NONE;
    a->taken_bytes += space;
    return at;
}

uint64_t arena_take_aligned(struct arena *a, uint64_t bytes, uint64_t alignment, void *user)
{
    uint64_t space = rounded_bytes(a, bytes);
    if (bytes == 0 || space < bytes || space > a->size)
        return ARENA_NONE;
    for (int i = 0; i <= a->count; i++) {
        uint64_t end = i == a->count ? a->size : a->range[i].offset;
        uint64_t at = (range_end(a, i - 1) + alignment - 1) / alignment * alignment;
        if (at > end || end - at < space)
            continue;
        if (insert_range(a, i, (struct arena_range){at, bytes, user, 0}) != 0)
            return ARENA_NONE;
        a->taken_bytes += space;
        return at;
    }
    return ARENA_NONE;
}

uint64_t arena_take_high(struct arena *a, uint64_t bytes, void *user)
{
    uint64_t space = rounded_bytes(a, bytes), end = a->size;
    if (bytes == 0 || space < bytes || space > a->size)
        return ARENA_NONE;
    for (int i = a->count; i >= 0; i--) {
        uint64_t from = i ? a->range[i - 1].offset + rounded_bytes(a, a->range[i - 1].bytes) : 0;
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
    a->taken_bytes -= rounded_bytes(a, a->range[i].bytes);
    for (int k = 0; k < CLASSES; k++)
        if (a->first_gap[k] > i)
            a->first_gap[k] = i;
    if (i < a->count / 2) {
        move_ranges(a, 1, 0, i);
        a->range++;
        a->spare++;
    } else {
        move_ranges(a, i, i + 1, a->count - i - 1);
    }
    a->count--;
    return 0;
}
