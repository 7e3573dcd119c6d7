/* SPDX-License-Identifier: MIT
 * named_barrier.c: PTX's barriers 0 to 15 of a block, with a count of threads: bar.sync 1, 64.
 *
 * A barrier is complete when as many threads have arrived as it says, or all that have not left the
 * kernel if it says nothing. A thread that only arrives (bar.arrive) goes on at once. Barrier 0
 * without a count is __syncthreads (barrier.c), which comes here while others are at barrier 0 with
 * a count.
 */
#include "named_barrier.h"

#include "fault.h"
#include "finding.h"
#include "grid.h"
#include "race.h"
#include "release_acquire.h"
#include "weak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BARRIERS = 16, EACH_LIVE = 0 };

struct named_barrier {
    uint32_t count;                  /* of threads that complete it; EACH_LIVE */
    uint32_t arrived, waiting;       /* since it was last complete; waiting: of these */
    uint32_t votes, voters;          /* predicates that were true, and all */
    uint32_t message;                /* race/release_acquire.c: what those who arrived have done */
    const char *site;                /* where the first thread arrived */
    struct weak_sum *seen;           /* weak/order.c: what they have seen; NULL: nothing */
    uint32_t lanes[MAX_BLOCK_WARPS]; /* who has arrived */
};

struct named_barriers { /* of a block */
    struct named_barrier of[BARRIERS];
    uint32_t twice; /* where a thread has arrived twice, first, and in which line */
    const char *twice_site;
};

static struct named_barrier *named_of(struct block *block, uint32_t number)
{
    if (!block->named)
        block->named = calloc(1, sizeof *block->named);
    if (!block->named)
        fault_raise(VGPU_FAULT_INTERNAL, 0, false, 0, "no memory for the barriers of a block");
    return &block->named->of[number];
}

static void begin_phase(struct named_barrier *b)
{
    free(b->seen);
    *b = (struct named_barrier){0};
}

void named_start(struct block *block)
{
    for (uint32_t i = 0; i < BARRIERS && block->named; i++)
        begin_phase(&block->named->of[i]);
    if (block->named)
        block->named->twice_site = NULL;
}

void named_free(struct block *block)
{
    named_start(block);
    free(block->named);
    block->named = NULL;
}

bool named_has_zero(const struct block *block)
{
    return block->named && block->named->of[0].arrived > 0;
}

/* ---- completion ---- */

void named_note_exit(const struct block *block, const char *site)
{
    char at[40];
    dim3_text(at, sizeof at, block->idx);
    run_finding(FINDING_EARLY_EXIT,
                "%u of %u threads of block %s had left the kernel when the others met in %s: "
                "undefined before Volta, and easily a deadlock; let them reach the barrier too",
                block->thread_count - block->live, block->thread_count, at, site);
}

static bool is_at(const struct thread *thread, uint32_t number)
{
    return thread->warp->live & thread->bit && thread->named.barrier == number + 1;
}

static void release_thread(struct thread *thread, const struct named_barrier *b, bool all)
{
    thread->named.barrier = 0;
    thread->named.votes = b->votes;
    thread->named.voters = b->voters;
    thread->warp->ready |= thread->bit;
    thread->block->ready_warps |= thread->warp->bit;
    if (all)
        return;
    visibility_acquire(thread, b->message);
    weak_joins(thread, b->seen);
}

static void complete_named(struct block *block, uint32_t number)
{
    struct named_barrier *b = &block->named->of[number];
    /* all wait: then it orders them as __syncthreads does */
    bool all = b->waiting == (b->count == EACH_LIVE ? block->live : block->thread_count);
    for (uint32_t i = 0; i < block->thread_count; i++)
        if (is_at(&block->threads[i], number))
            release_thread(&block->threads[i], b, all);
    if (number == 0) /* of threads that are in vgpu_syncthreads_reduce */
        block->barrier.result = b->votes, block->barrier.result_of = b->voters;
    begin_phase(b);
    if (all) {
        race_barrier(block);
        weak_block_meets(block);
    }
    block->run->counts.barriers++;
    block->run->events++;
    progress();
}

void named_complete(struct block *block, uint32_t number)
{
    const struct named_barrier *b = &block->named->of[number];
    if (b->arrived < (b->count == EACH_LIVE ? block->live : b->count))
        return;
    if (b->count == EACH_LIVE && block->live < block->thread_count)
        named_note_exit(block, b->site);
    complete_named(block, number);
}

void named_left(struct block *block)
{
    for (uint32_t i = 0; i < BARRIERS; i++)
        if (block->named->of[i].arrived > 0 && block->named->of[i].count == EACH_LIVE)
            named_complete(block, i);
}

/* ---- arrival ---- */

/* A barrier with a count takes a warp that is not full for a full one: the block's last thread
 * stands for those that it lacks. */
static uint32_t lacking_lanes(const struct block *block)
{
    return WARP_LANES - 1 - (block->thread_count - 1) % WARP_LANES;
}

void named_check(uint32_t number, uint32_t count, const char *site)
{
    if (number < BARRIERS && count % WARP_LANES == 0)
        return;
    fault_place(site);
    if (number >= BARRIERS)
        fault_raise(VGPU_FAULT_BARRIER, 0, false, 0, "barrier %u in %s: a block has %d, from 0 on",
                    number, site, BARRIERS);
    fault_raise(VGPU_FAULT_BARRIER, 0, false, 0,
                "barrier %u of %u threads in %s: the number of threads must be a multiple of %d",
                number, count, site, WARP_LANES);
}

/* On an H200 a count does not go with none, even if it is the number of threads of the block. */
static void check_count(struct named_barrier *b, uint32_t number, uint32_t count, const char *site)
{
    if (b->arrived == 0)
        b->count = count;
    if (b->count == count)
        return;
    fault_place(site);
    fault_raise(VGPU_FAULT_INSTRUCTION, 0, false, 0,
                "threads arrive at barrier %u with different numbers of threads: %u in %s, %u in "
                "%s (0: all of the block)",
                number, b->count, b->site, count, site);
}

static void note_twice(uint32_t number, const char *site)
{
    char at[40];
    struct named_barriers *all = now.block->named;
    dim3_text(at, sizeof at, now.thread->idx);
    if (!all->twice_site)
        all->twice = number;
    if (!all->twice_site)
        all->twice_site = site;
    run_finding(FINDING_TWICE,
                "thread %s arrives at barrier %u in %s, where it has arrived already and which "
                "other threads have not completed: it counts twice, so the barrier opens without "
                "one of them",
                at, number, site);
}

static void add_arrival(struct named_barrier *b, uint32_t number, bool waits, const char *site)
{
    struct thread *thread = now.thread;
    uint32_t *lanes = &b->lanes[now.warp - now.block->warps];
    thread->site = site;
    if (!b->site)
        b->site = site;
    if (*lanes & thread->bit)
        note_twice(number, site);
    *lanes |= thread->bit;
    b->arrived++;
    if (b->count != EACH_LIVE && thread->number == now.block->thread_count - 1)
        b->arrived += lacking_lanes(now.block);
    b->waiting += waits;
    if (waits)
        thread->named.barrier = number + 1;
    b->message = visibility_release(b->message);
    weak_sums_up(&b->seen);
}

/* Threads that wait in __syncthreads are at barrier 0, too. */
static void take_from_zero(struct block *block, struct named_barrier *b)
{
    struct thread *running = now.thread;
    struct warp *at = now.warp;
    uint32_t waiting = block->live - block->barrier.missing;
    for (uint32_t i = 0; i < block->thread_count && waiting > 0; i++) {
        struct thread *thread = &block->threads[i];
        const struct warp *warp = thread->warp;
        uint32_t elsewhere = warp->ready | warp->in_op | warp->converging | warp->polling;
        if (thread == running || !(warp->live & ~elsewhere & thread->bit) || thread->named.barrier)
            continue;
        now.thread = thread;
        now.warp = thread->warp;
        add_arrival(b, 0, true, thread->site);
    }
    now.thread = running;
    now.warp = at;
    b->votes = block->barrier.votes;
    b->voters = waiting;
    block->barrier.missing = block->live;
    block->barrier.votes = 0;
    block->barrier.site = NULL;
}

void named_arrive(uint32_t number, uint32_t count, enum named_arrival how, const char *site)
{
    struct named_barrier *b = named_of(now.block, number);
    if (number == 0 && b->arrived == 0)
        take_from_zero(now.block, b);
    check_count(b, number, count, site);
    add_arrival(b, number, how != NAMED_ARRIVES, site);
    b->votes += how == NAMED_VOTES;
    b->voters += how != NAMED_ARRIVES;
}

int named_text(const struct thread *thread, char *text, uint64_t room)
{
    uint32_t number = thread->named.barrier - 1;
    const struct named_barriers *all = thread->block->named;
    const struct named_barrier *b = &all->of[number];
    uint32_t count = b->count == EACH_LIVE ? thread->block->live : b->count;
    bool twice = all->twice_site && all->twice == number;
    return snprintf(text, room, "at barrier %u (%u of %u have arrived%s%s) in %s", number,
                    b->arrived, count, twice ? ", after threads that arrived twice in " : "",
                    twice ? all->twice_site : "", thread->site);
}
