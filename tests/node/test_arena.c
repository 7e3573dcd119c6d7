/* SPDX-License-Identifier: MIT
 * test_arena.c: the arena against a bitmap that knows every granule.
 */
#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRANULES 257
#define GRANULE 16

static char used[GRANULES];
static struct {
    uint64_t at, bytes;
} live[GRANULES];
static int live_count;

static void fail(const char *what)
{
    fprintf(stderr, "arena: %s\n", what);
    exit(1);
}

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
    if (got != (want < 0 ? ARENA_NONE : (uint64_t)want * GRANULE))
        fail(high ? "not the highest gap" : "not the lowest gap");
    if (want < 0)
        return;
    memset(used + want, 1, (size_t)n);
    live[live_count].at = got;
    live[live_count++].bytes = bytes;
}

static void give(struct arena *a, int i)
{
    if (arena_give(a, live[i].at) != 0 || arena_give(a, live[i].at) == 0)
        fail("gives back exactly once");
    memset(used + live[i].at / GRANULE, 0, (live[i].bytes + GRANULE - 1) / GRANULE);
    live[i] = live[--live_count];
}

static void check_find(struct arena *a)
{
    uint64_t at = (uint64_t)rand() % (GRANULES * GRANULE);
    struct arena_range *r = arena_find(a, at);
    for (int i = 0; i < live_count; i++)
        if (at >= live[i].at && at < live[i].at + live[i].bytes) {
            if (!r || r->offset != live[i].at)
                fail("does not find what is there");
            return;
        }
    if (r)
        fail("finds what is not there");
}

int main(void)
{
    struct arena a;
    arena_init(&a, GRANULES * GRANULE, GRANULE);
    srand(1);
    if (arena_take(&a, 0, NULL) != ARENA_NONE || arena_take(&a, UINT64_MAX, NULL) != ARENA_NONE)
        fail("takes nonsense");
    for (int step = 0; step < 200000; step++) {
        if (rand() % 2 && live_count)
            give(&a, rand() % live_count);
        else
            take(&a, 1 + (uint64_t)rand() % 200, rand() % 4 == 0);
        check_find(&a);
    }
    puts("arena: 200000 steps agree");
    return 0;
}
