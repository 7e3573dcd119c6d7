/* SPDX-License-Identifier: MIT
 * arena.c: the arena against a bitmap that knows every granule.
 */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define GRANULES 257
#define GRANULE 16

static char used[GRANULES];
static struct {
    uint64_t at, bytes;
} live[GRANULES];
static int live_count;

/* Where a run of n free granules begins, the lowest or the highest such place; -1: nowhere. */
static long gap(int n, int high)
{
    long found = -1;
    for (int i = 0, run = 0; i < GRANULES && (high || found < 0); i++) {
        run = used[i] ? 0 : run + 1;
        if (run >= n)
            found = i - n + 1;
    }
    return found;
}

static void take(struct arena *a, uint64_t bytes, int high)
{
    int n = (int)((bytes + GRANULE - 1) / GRANULE);
    long want = gap(n, high);
    uint64_t got = high ? arena_take_high(a, bytes, NULL) : arena_take(a, bytes, NULL);
    EXPECT(got == (want < 0 ? ARENA_NONE : (uint64_t)want * GRANULE), "not the %s gap",
           high ? "highest" : "lowest");
    if (want < 0)
        return;
    memset(used + want, 1, (size_t)n);
    live[live_count].at = got;
    live[live_count++].bytes = bytes;
}

static void give(struct arena *a, int i)
{
    EXPECT(arena_give(a, live[i].at) == 0, "%s", "does not take back what it gave");
    EXPECT(arena_give(a, live[i].at) != 0, "%s", "takes back the same twice");
    memset(used + live[i].at / GRANULE, 0, (live[i].bytes + GRANULE - 1) / GRANULE);
    live[i] = live[--live_count];
}

static void check_find(const struct arena *a)
{
    uint64_t at = unit_dice(GRANULES * GRANULE), there = ARENA_NONE;
    const struct arena_range *r = arena_find(a, at);
    for (int i = 0; i < live_count; i++)
        if (at >= live[i].at && at < live[i].at + live[i].bytes)
            there = live[i].at;
    EXPECT((r ? r->offset : ARENA_NONE) == there, "at %llu: finds %s", (unsigned long long)at,
           r ? "another range, or one that is not there" : "nothing");
}

static uint64_t serials; /* of the ranges of all arenas here */

UNIT(arena_is_a_bitmap)
{
    struct arena a;
    arena_init(&a, GRANULES * GRANULE, GRANULE, &serials);
    unit_seed(1);
    EXPECT(arena_take(&a, 0, NULL) == ARENA_NONE, "%s", "takes 0 bytes");
    EXPECT(arena_take(&a, UINT64_MAX, NULL) == ARENA_NONE, "%s", "takes 2^64-1 bytes");
    for (int step = 0; step < 40000; step++) {
        if (unit_dice(2) && live_count)
            give(&a, (int)unit_dice((uint64_t)live_count));
        else
            take(&a, 1 + unit_dice(200), unit_dice(4) == 0);
        check_find(&a);
    }
    arena_clear(&a);
}

UNIT(arena_aligns)
{
    struct arena a;
    arena_init(&a, 16 * GRANULE, GRANULE, &serials);
    EXPECT(arena_take(&a, GRANULE, NULL) == 0, "%s", "not the first granule");
    EXPECT(arena_take_aligned(&a, 2 * GRANULE, 4 * GRANULE, NULL) == 4 * GRANULE, "%s",
           "not the first multiple of four granules");
    EXPECT(arena_take_aligned(&a, 3 * GRANULE, GRANULE, NULL) == GRANULE, "%s",
           "not the gap before it");
    EXPECT(arena_take_aligned(&a, 8 * GRANULE, 8 * GRANULE, NULL) == 8 * GRANULE, "%s",
           "not the end");
    EXPECT(arena_take_aligned(&a, GRANULE, 4 * GRANULE, NULL) == ARENA_NONE, "%s",
           "takes what is no multiple");
    EXPECT(arena_give(&a, 4 * GRANULE) == 0, "%s", "does not take back what it gave");
    arena_clear(&a);
}

/* A program that only allocates: the cost of each is independent of how many there are. Gaps are
 * counted, not seconds. */
static uint64_t looks_per_take(int takes, int sizes)
{
    struct arena a;
    arena_init(&a, 1ull << 40, 512, &serials);
    for (int i = 0; i < takes; i++)
        EXPECT(arena_take(&a, 512ull << (i % sizes), NULL) != ARENA_NONE, "no room for the %d.", i);
    uint64_t looks = a.looks / (uint64_t)takes;
    arena_clear(&a);
    return looks;
}

UNIT(arena_looks_at_few_gaps)
{
    for (int sizes = 1; sizes <= 5; sizes += 2) {
        uint64_t few = looks_per_take(2000, sizes), many = looks_per_take(8000, sizes);
        EXPECT(few <= 4 && many <= 4, "%d sizes: %llu and %llu gaps an allocation", sizes,
               (unsigned long long)few, (unsigned long long)many);
    }
}

/* Frees what it has, in the order of its making or against it, and takes it again. */
static uint64_t moves_per_give(int ranges, bool last_first)
{
    struct arena a;
    arena_init(&a, 1ull << 40, 512, &serials);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < ranges; i++)
            arena_take(&a, 512, NULL);
        for (int i = 0; i < ranges; i++)
            EXPECT(arena_give(&a, 512 * (unsigned)(last_first ? ranges - 1 - i : i)) == 0,
                   "the %d. is not there", i);
    }
    uint64_t moves = a.moves / (uint64_t)ranges;
    arena_clear(&a);
    return moves;
}

UNIT(arena_moves_few_ranges)
{
    for (int last_first = 0; last_first < 2; last_first++) {
        uint64_t few = moves_per_give(2000, last_first), many = moves_per_give(8000, last_first);
        EXPECT(few <= 4 && many <= 4, "%llu and %llu ranges a free", (unsigned long long)few,
               (unsigned long long)many);
    }
}
