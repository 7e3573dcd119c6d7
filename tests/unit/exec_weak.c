/* SPDX-License-Identifier: MIT
 * exec_weak.c: VGPU_SCHEDULE=weak: which older values a load may return, and which it must not.
 */
#include <stdlib.h>
#include <string.h>

#include "exec_stage.h"
#include "release_acquire.h"
#include "weak.h"
#include "weak_table.h"

enum { TRIES = 200, OTHER = 40 /* a thread of another warp */ };

static uint32_t *word(uint64_t number)
{
    return (uint32_t *)(STAGE_MEMORY + 64 * number); /* NOLINT */
}

static void start(void)
{
    setenv("VGPU_SCHEDULE", "weak:1", 1);
    stage_start();
    memset(word(0), 0, 4096);
    weak_run_begins(&stage.run, 0, 0);
    weak_run_goes(&stage.run);
}

static void access(uint32_t thread, uint32_t *at, struct weak_access kind, bool write)
{
    stage_run(thread);
    weak_settle();
    weak_kind = kind;
    weak_access((uint64_t)at, sizeof *at, write);
    weak_kind = weak_plain;
}

static void store_as(uint32_t thread, uint32_t *to, uint32_t value, int scope)
{
    access(thread, to, (struct weak_access){.scope = scope}, true);
    *to = value;
}

static void store(uint32_t thread, uint32_t *to, uint32_t value)
{
    store_as(thread, to, value, WEAK_PLAIN);
}

static uint32_t load_as(uint32_t thread, uint32_t *from, int scope)
{
    access(thread, from, (struct weak_access){.scope = scope}, false);
    return *(volatile uint32_t *)from;
}

static uint32_t load(uint32_t thread, uint32_t *from)
{
    return load_as(thread, from, WEAK_PLAIN);
}

static uint32_t add(uint32_t thread, uint32_t *to, int scope)
{
    access(thread, to, (struct weak_access){.scope = scope, .change = true}, false);
    access(thread, to, (struct weak_access){.scope = scope, .change = true}, true);
    return (*to)++;
}

/* How often `thread` finds something older than `newest` in a word of its own each time. */
static uint32_t old_values(uint32_t thread, uint32_t newest, void (*before)(uint32_t *at))
{
    uint32_t old = 0;
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t *at = word(1 + i % 32);
        weak_settle();
        *at = 0; /* by something else */
        before(at);
        old += load(thread, at) != newest;
    }
    return old;
}

static void other_stores(uint32_t *at)
{
    store(OTHER, at, 1);
}

UNIT(a_load_may_miss_the_store_of_another_thread)
{
    start();
    uint32_t old = old_values(0, 1, other_stores);
    EXPECT(old > TRIES / 8 && old < TRIES, "%u of %d loads are old", old, TRIES);
    weak_settle();
    EXPECT(*word(1) == 1, "%u is left in memory", *word(1));
}

static void same_stores(uint32_t *at)
{
    store(0, at, 1);
}

static void other_stores_first(uint32_t *at)
{
    store(OTHER, at, 2);
    store(0, at, 1);
}

static void same_value(uint32_t *at)
{
    store(OTHER, at, 1);
    store(0, at, 1);
}

static void copied_over(uint32_t *at)
{
    store(OTHER, at, 2);
    weak_settle();
    *at = 1;
}

static void one_has_met(uint32_t *at)
{
    store(OTHER, at, 1);
    weak_block_meets(stage.block);
}

UNIT(no_load_misses_what_its_thread_knows)
{
    start();
    EXPECT(old_values(0, 1, same_stores) == 0, "%s", "its own store");
    EXPECT(old_values(0, 1, other_stores_first) == 0, "%s", "what its own store replaced");
    EXPECT(old_values(0, 1, same_value) == 0, "%s", "its own store, which changed nothing");
    EXPECT(old_values(0, 1, copied_over) == 0, "%s", "what a copy has written");
    EXPECT(old_values(0, 1, one_has_met) == 0, "%s", "what came before a barrier");
}

UNIT(loads_of_one_word_are_coherent)
{
    start();
    for (uint32_t i = 0; i < TRIES; i++) {
        weak_settle();
        *word(1) = 0;
        store(OTHER, word(1), 1);
        store(OTHER, word(1), 2);
        uint32_t first = load(0, word(1)), second = load(0, word(1));
        EXPECT(first <= second, "%u, then %u", first, second);
    }
}

static void nothing(uint32_t *at)
{
    (void)at;
}

static void reader_has_met(uint32_t *at)
{
    (void)at;
    weak_block_meets(stage.block);
}

static void reader_has_read(uint32_t *at)
{
    while (load_as(0, at, 2) != 1) {
    }
}

/* How often a store of 2 comes behind another thread's of 1, after which `before` happens. */
static uint32_t stores_behind(void (*before)(uint32_t *at), int scope)
{
    uint32_t behind = 0;
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t *at = word(1 + i % 32);
        weak_settle();
        *at = 0; /* by something else */
        store_as(OTHER, at, 1, 2);
        before(at);
        store_as(0, at, 2, scope);
        uint32_t own = load_as(0, at, 2), again = load_as(0, at, 2);
        weak_settle();
        behind += *at == 1;
        EXPECT(*at == 1 || own == 2, "%u is read behind %u", own, *at);
        EXPECT(own == 2 || (own == 1 && again == 1), "%u, then %u", own, again);
    }
    return behind;
}

UNIT(a_store_may_come_behind_one_that_its_thread_has_not_seen)
{
    start();
    uint32_t behind = stores_behind(nothing, 2);
    EXPECT(behind > TRIES / 8 && behind < TRIES, "%u of %d are behind", behind, TRIES);
    EXPECT(stores_behind(nothing, WEAK_PLAIN) == 0, "%s", "a plain store");
    EXPECT(stores_behind(reader_has_read, 2) == 0, "%s", "it has read the other one");
    EXPECT(stores_behind(reader_has_met, 2) == 0, "%s", "the other one came before a barrier");
}

UNIT(no_store_comes_between_an_atomic_and_what_it_has_read)
{
    start();
    for (uint32_t i = 0; i < TRIES; i++) {
        weak_settle();
        *word(1) = 0;
        add(OTHER, word(1), 2);
        store_as(0, word(1), 4, 2);
        weak_settle();
        EXPECT(*word(1) == 4, "%u is left: 4 came before the addition, which has read 0", *word(1));
    }
}

UNIT(a_store_may_be_early_where_the_load_is_elsewhere)
{
    uint32_t early = 0;
    start();
    stage_run(0);
    for (uint32_t i = 0; i < TRIES; i++) {
        EXPECT(!weak_may_be_early((uint64_t)word(1), (uint64_t)(word(1) + 1)), "%s", "the same 8");
        if (!weak_may_be_early((uint64_t)word(1), (uint64_t)word(2)))
            continue;
        early++;
        EXPECT(!weak_was_early((uint64_t)word(2)), "%s", "another store");
        EXPECT(weak_was_early((uint64_t)word(1)), "%s", "the store was not noted");
        EXPECT(!weak_was_early((uint64_t)word(1)), "%s", "it is made twice");
    }
    EXPECT(early > TRIES / 16 && early < TRIES, "%u of %d are early", early, TRIES);
}

/* Data and a flag, with fences of these scopes; the flag's accesses have another. Returns how often
 * the flag was seen and the data missed. */
static uint32_t missed(int before, int after, int flag)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < TRIES; i++) {
        weak_settle();
        *word(1) = *word(2) = 0;
        store(OTHER, word(1), 1);
        if (before >= 0)
            weak_fence(before, false);
        store_as(OTHER, word(2), 1, flag);
        bool seen = load_as(0, word(2), flag) == 1;
        if (after >= 0)
            weak_fence(after, false);
        times += seen && load(0, word(1)) == 0;
    }
    return times;
}

UNIT(fences_on_both_sides_and_a_strong_flag_order_data)
{
    start();
    EXPECT(missed(0, 0, 0) == 0 && missed(2, 0, 1) == 0, "%s", "data was missed");
    EXPECT(missed(-1, 0, 2) > 0, "%s", "no fence before the flag, and nothing was missed");
    EXPECT(missed(0, -1, 2) > 0, "%s", "no fence behind the flag, and nothing was missed");
    EXPECT(missed(0, 0, WEAK_PLAIN) > 0, "%s", "a plain flag, and nothing was missed");
}

/* The same between two GPUs: this thread is on another one in the second half of each round. */
static uint32_t missed_elsewhere(int before, int after)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < TRIES; i++) {
        weak_settle();
        *word(1) = *word(2) = 0;
        context.device = 0;
        store(OTHER, word(1), 1);
        weak_fence(before, false);
        store_as(OTHER, word(2), 1, 2);
        context.device = 1;
        bool seen = load_as(0, word(2), 2) == 1;
        weak_fence(after, false);
        times += seen && load(0, word(1)) == 0;
    }
    return times;
}

UNIT(between_gpus_only_fences_of_the_system_order)
{
    start();
    EXPECT(missed_elsewhere(1, 2) > 0, "%s", "nothing was missed with a narrow fence before");
    EXPECT(missed_elsewhere(2, 1) > 0, "%s", "nothing was missed with a narrow fence behind");
    EXPECT(missed_elsewhere(2, 2) == 0, "%s", "data was missed");
}

UNIT(an_atomic_passes_on_what_it_has_read)
{
    start();
    for (uint32_t i = 0; i < TRIES; i++) {
        weak_settle();
        *word(1) = *word(2) = 0;
        store(OTHER, word(1), 1);
        weak_fence(1, false);
        store_as(OTHER, word(2), 1, 1);
        EXPECT(add(OTHER + 1, word(2), 1) == 1, "%s", "an atomic has read an old value");
        if (load_as(0, word(2), 1) != 2)
            continue;
        weak_acquire(1);
        EXPECT(load(0, word(1)) == 1, "%s", "the first store's release is lost");
    }
}

UNIT(more_releases_than_there_is_room_for_order_more)
{
    start();
    for (uint32_t i = 0; i < TRIES; i++) {
        const uint32_t threads = 3 * VGPU_WEAK_RELEASES;
        weak_settle();
        for (uint32_t k = 0; k <= threads; k++)
            *word(k) = 0;
        for (uint32_t k = 1; k <= threads; k++) {
            stage.block->number = k;
            store(k, word(k), 1);
            weak_fence(1, false);
            add(k, word(0), 1);
        }
        stage.block->number = 0;
        if (load_as(0, word(0), 1) != threads)
            continue;
        weak_acquire(1);
        for (uint32_t k = 1; k <= threads; k++)
            EXPECT(load(0, word(k)) == 1, "what thread %u has released was missed", k);
    }
}

UNIT(fences_of_sequential_consistency_have_one_order)
{
    start();
    for (uint32_t i = 0; i < TRIES; i++) {
        weak_settle();
        *word(1) = *word(2) = 0;
        store(0, word(1), 1);
        weak_fence(0, true);
        uint32_t y = load(0, word(2));
        store(OTHER, word(2), 1);
        weak_fence(2, true);
        uint32_t x = load(OTHER, word(1));
        EXPECT(x || y, "%s", "both have missed the other's store");
    }
}

UNIT(what_left_the_table_is_seen_by_all)
{
    start();
    store(OTHER, word(1), 1);
    for (uint32_t i = 0; i < VGPU_WEAK_STORES; i++)
        store(OTHER, word(2), i + 1);
    for (uint32_t i = 0; i < TRIES; i++)
        EXPECT(load(0, word(1)) == 1, "%s", "a store that is gone was missed");
}

UNIT(a_kernel_sees_those_that_it_is_ordered_after)
{
    struct run *run = &stage.run;
    uint32_t old = 0;
    start();
    for (uint32_t i = 0; i < TRIES; i++) {
        uint64_t after = i % 2; /* of place 0 */
        weak_settle();
        *word(1) = 0;
        store(OTHER, word(1), 1);
        weak_block_ends(stage.block);
        weak_run_ends(run);
        weak_run_begins(run, 1, after);
        bool missed = load(0, word(1)) == 0;
        EXPECT(!(missed && after), "%s", "the store of a kernel before it was missed");
        old += missed;
        weak_block_ends(stage.block);
        weak_run_ends(run);
        weak_run_begins(run, 0, 0);
    }
    EXPECT(old > 0, "%s", "no store of a concurrent kernel was missed");
}
