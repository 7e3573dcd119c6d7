/* SPDX-License-Identifier: MIT
 * release_acquire.c: see release_acquire.h. A message is what one release publishes: what its
 * sender had done, and the messages that the sender had acquired. A thread's clock is the number of
 * a message. A lookup follows messages backwards; usually the latest one suffices.
 */
#include "release_acquire.h"

#include "race.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGES_MAX = 1 << 20, FLAGS = 1 << 16, STEPS_MAX = 1 << 20 };

struct message {
    uint64_t block;
    uint32_t thread;
    int32_t run;    /* slot of the run */
    uint64_t since; /* intervals of the last barriers of the sender's block and warp: all before is
                       released */
    uint64_t warp_since;
    uint64_t own, wide; /* last interval before the sender's fence: of any scope, of wide scope */
    uint32_t before[2]; /* acquired messages; 0: none */
    uint32_t asked;     /* number of the last lookup that visited it */
};

struct known_messages { /* clock of a thread */
    uint32_t message;
    uint64_t own, wide; /* last interval before its last fence, by scope; 0: none */
};

static struct message *messages; /* number 0 is not used */
static uint32_t message_count, message_room;
static bool lost_clocks; /* table full: treat every pair as ordered */

static struct { /* a hash table, by address */
    uint64_t address;
    uint32_t message;
} flags[FLAGS];
static uint32_t flag_count;

/* ---- messages ---- */

static uint32_t message_new(void)
{
    if (message_count == MESSAGES_MAX) {
        lost_clocks = true;
        return 0;
    }
    if (message_count >= message_room) {
        uint32_t room = message_room ? 2 * message_room : 1024;
        struct message *more = realloc(messages, room * sizeof *more);
        lost_clocks = !more;
        if (lost_clocks)
            return 0;
        messages = more;
        message_room = room;
    }
    if (message_count == 0)
        message_count = 1;
    messages[message_count] = (struct message){.block = ~0ull};
    return message_count++;
}

/* The message that includes both. */
static uint32_t join_scopes(uint32_t a, uint32_t b)
{
    if (a == b || !b)
        return a;
    if (!a || messages[b].before[0] == a || messages[b].before[1] == a)
        return b;
    uint32_t both = message_new();
    if (both) {
        messages[both].before[0] = a;
        messages[both].before[1] = b;
    }
    return both;
}

static struct known_messages *acquired_messages(const struct thread *thread)
{
    struct block *block = thread->block;
    if (!block->visibility.of)
        block->visibility.of = calloc(block->thread_count, sizeof *block->visibility.of);
    lost_clocks |= !block->visibility.of;
    return block->visibility.of ? &block->visibility.of[thread->number] : NULL;
}

/* ---- flags ---- */

/* The flag's message, or the slot for it; NULL: table full. */
static uint32_t *flag_of(uint64_t address, bool make)
{
    uint64_t at = address * 0x9E3779B97F4A7C15ull >> 48;
    while (flags[at].address && flags[at].address != address)
        at = (at + 1) % FLAGS;
    if (!flags[at].address && make) {
        if (flag_count == FLAGS / 2) {
            lost_clocks = true;
            return NULL;
        }
        flag_count++;
        flags[at].address = address;
    }
    return flags[at].address ? &flags[at].message : NULL;
}

void visibility_fence(int scope)
{
    struct known_messages *k = race_on ? acquired_messages(now.thread) : NULL;
    if (!k)
        return;
    k->own = now.warp->interval;
    if (scope > 0)
        k->wide = k->own;
    race_new_interval();
}

/* What the running thread releases, of its own and what it has acquired; 0: table full. */
static uint32_t message_of_mine(const struct known_messages *k)
{
    uint32_t number = message_new();
    if (number)
        messages[number] = (struct message){.block = now.block->number,
                                            .thread = now.thread->number,
                                            .run = now.run->arg_slot,
                                            .since = now.block->intervals.since,
                                            .warp_since = now.warp->since,
                                            .own = k->own,
                                            .wide = k->wide,
                                            .before = {k->message, now.block->visibility.all}};
    return number;
}

uint32_t visibility_release(uint32_t others)
{
    visibility_fence(0);
    const struct known_messages *k = race_on ? acquired_messages(now.thread) : NULL;
    return k ? join_scopes(others, message_of_mine(k)) : others;
}

void visibility_acquire(struct thread *thread, uint32_t message)
{
    struct known_messages *k = race_on && message ? acquired_messages(thread) : NULL;
    if (!k)
        return;
    k->message = join_scopes(k->message, message);
    thread->block->visibility.differs = true;
}

void visibility_store(uint64_t address, bool atomic)
{
    const struct known_messages *k =
        race_on && now.block->visibility.of ? acquired_messages(now.thread) : NULL;
    if (!k || !k->own) { /* no fence before: releases nothing; after an atomic the flag keeps its
                            message */
        uint32_t *flag = race_on && !atomic && flag_count ? flag_of(address, false) : NULL;
        if (flag)
            *flag = 0;
        return;
    }
    uint32_t *flag = flag_of(address, true), number = message_of_mine(k);
    if (flag && number)
        *flag = number;
}

void visibility_load(uint64_t address)
{
    uint32_t *flag = race_on && flag_count ? flag_of(address, false) : NULL;
    if (!flag || !*flag)
        return;
    bool shared = window_of(address) == WINDOW_SHARED;
    if (shared && messages[*flag].block != now.block->number)
        return; /* of a block that used this memory before */
    struct known_messages *k = acquired_messages(now.thread);
    if (!k || k->message == *flag)
        return;
    k->message = join_scopes(k->message, *flag);
    now.block->visibility.differs = true;
}

/* ---- barriers ---- */

void visibility_block_starts(struct block *block)
{
    block->visibility.all = 0;
    block->visibility.differs = false;
    if (block->visibility.of)
        memset(block->visibility.of, 0, block->thread_count * sizeof *block->visibility.of);
}

void visibility_block_meets(struct block *block)
{
    if (!block->visibility.differs)
        return;
    block->visibility.differs = false;
    for (uint32_t i = 0; i < block->thread_count; i++)
        block->visibility.all = join_scopes(block->visibility.all, block->visibility.of[i].message);
    for (uint32_t i = 0; i < block->thread_count; i++)
        block->visibility.of[i].message = 0;
}

void visibility_lanes_meet(struct warp *warp, uint32_t lanes)
{
    struct block *block = warp->threads->block;
    uint32_t all = 0, first = warp->threads->number;
    if (!block->visibility.differs)
        return;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        all = join_scopes(all, block->visibility.of[first + (uint32_t)__builtin_ctz(rest)].message);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        block->visibility.of[first + (uint32_t)__builtin_ctz(rest)].message = all;
}

/* ---- lookups ---- */

struct question {
    uint64_t block, interval;
    uint32_t thread;
};

static bool message_answers(const struct message *m, const struct question *q)
{
    bool mine = m->block == now.block->number;
    if (m->block != q->block || m->run != now.run->arg_slot || (!mine && !m->wide))
        return false;
    if (q->interval < m->since)
        return true;
    if (q->thread / WARP_LANES == m->thread / WARP_LANES && q->interval < m->warp_since)
        return true;
    return q->thread == m->thread && q->interval <= (mine ? m->own : m->wide);
}

static bool is_answered(uint32_t from, const struct question *q)
{
    static uint32_t stack[STEPS_MAX + 2], asked;
    uint32_t depth = 0, steps = 0;
    stack[depth++] = from;
    for (asked++; depth > 0 && steps < STEPS_MAX / 2; steps++) {
        struct message *m = &messages[stack[--depth]];
        if (m->asked == asked)
            continue;
        m->asked = asked;
        if (message_answers(m, q))
            return true;
        for (int i = 0; i < 2; i++)
            if (m->before[i])
                stack[depth++] = m->before[i];
    }
    return steps == STEPS_MAX / 2; /* too many steps: treat as ordered */
}

bool is_visible_to_me(uint64_t block, uint32_t thread, uint64_t interval)
{
    struct question q = {.block = block, .interval = interval, .thread = thread};
    if (lost_clocks || !message_count)
        return lost_clocks;
    uint32_t mine =
        now.block->visibility.of ? now.block->visibility.of[now.thread->number].message : 0;
    return (mine && is_answered(mine, &q)) ||
           (now.block->visibility.all && is_answered(now.block->visibility.all, &q));
}

bool visibility_is_used(void)
{
    return lost_clocks || message_count > 0;
}

void visibility_forget(void)
{
    if (flag_count)
        memset(flags, 0, sizeof flags);
    message_count = flag_count = 0;
    lost_clocks = false;
}
