/* SPDX-License-Identifier: MIT
 * causes.h: what a wrong number says about how it came to be: which ranks' numbers are in it.
 */
#ifndef LAB07_CAUSES_H
#define LAB07_CAUSES_H

#include <stdbool.h>
#include <stdio.h>

#include "io.h"

/* The number of rank r that takes part in element i. */
static inline int share_of(const struct rings_in *in, int r, uint64_t i)
{
    return io_whole(in->seed, r, i);
}

/* An element made of what was never written (every byte 0xCB), or of that and whole numbers. */
static inline bool poisoned(int type, const unsigned char *got)
{
    int32_t integer;
    float real;
    memcpy(&integer, got, type == RING_FLOAT16 ? 2 : 4);
    memcpy(&real, got, type == RING_FLOAT16 ? 2 : 4);
    if (type == RING_INT32)
        return integer < -100000000;
    if (type == RING_FLOAT32)
        return real < -1e6f;
    for (int whole = -1600; whole <= 1600; whole++) {
        uint16_t half = io_half(whole);
        if (memcmp(got, &half, sizeof half) == 0)
            return false;
    }
    return true; /* 0xCBCB is -15.6: whatever is added, no whole number comes out */
}

/* The set of ranks whose numbers add up to `got` (bit r: rank r), the largest such set; 0: none. */
static inline int ranks_in(const struct rings_in *in, const struct ring_call *c, uint64_t i,
                           const unsigned char *got)
{
    int found = 0, most = 0;
    for (int set = 1; set < 1 << c->n; set++) {
        unsigned char bytes[4];
        int sum = 0, size = 0;
        for (int r = 0; r < c->n; r++)
            if (set & 1 << r) {
                sum += share_of(in, r, i);
                size++;
            }
        io_put(bytes, (enum ring_type)c->type, sum);
        if (size > most && memcmp(bytes, got, c->type == RING_FLOAT16 ? 2 : 4) == 0) {
            found = set;
            most = size;
        }
    }
    return found;
}

/* The rank whose number was added once too often, -1: none. */
static inline int rank_twice(const struct rings_in *in, const struct ring_call *c, uint64_t i,
                             const unsigned char *got)
{
    int sum = 0;
    for (int r = 0; r < c->n; r++)
        sum += share_of(in, r, i);
    for (int r = 0; r < c->n; r++) {
        unsigned char bytes[4];
        io_put(bytes, (enum ring_type)c->type, sum + share_of(in, r, i));
        if (memcmp(bytes, got, c->type == RING_FLOAT16 ? 2 : 4) == 0)
            return r;
    }
    return -1;
}

static inline void list_ranks(char *text, size_t room, int set)
{
    size_t used = 0;
    text[0] = 0;
    for (int r = 0; r < RING_RANKS && used < room; r++)
        if (set & 1 << r)
            used += (size_t)snprintf(text + used, room - used, used ? ", %d" : "%d", r);
}

/* A sentence's end about element i of rank r, which is wrong. */
static inline void say_cause(char *text, size_t room, const struct rings_in *in,
                             const struct ring_call *c, int r, uint64_t i, const unsigned char *got)
{
    bool added = c->what != DO_ALL_GATHER && c->what != DO_BROADCAST && c->what != DO_ALL_TO_ALL &&
                 c->what != DO_DIRECT_GATHER;
    int set = added && c->op == RING_SUM ? ranks_in(in, c, i, got) : 0;
    static const unsigned char zero[4];
    unsigned char own[4];
    int twice;
    char ranks[40], missing[40];
    list_ranks(ranks, sizeof ranks, set);
    list_ranks(missing, sizeof missing, ((1 << c->n) - 1) & ~set);
    io_put(own, (enum ring_type)c->type, share_of(in, r, i));
    if (got[0] == UNTOUCHED && got[1] == UNTOUCHED)
        snprintf(text, room, "but was not written");
    else if (memcmp(own, got, c->type == RING_FLOAT16 ? 2 : 4) == 0)
        snprintf(text, room,
                 "but is what the rank itself began with: nothing came in (a step too few, or no "
                 "gather?), or it came after this was read (which stream waits for it?)");
    else if (memcmp(zero, got, c->type == RING_FLOAT16 ? 2 : 4) == 0)
        snprintf(text, room, "but is 0: was it cleared? In place recv is send");
    else if (poisoned(c->type, got))
        snprintf(
            text, room,
            "but holds memory that was never written: nothing came there, or it was read before "
            "the copy to it had ended. Which event marks the end of that copy, was the event "
            "recorded before the "
            "wait was queued, and which stream waits for it?");
    else if (added && c->op == RING_SUM && (twice = rank_twice(in, c, i, got)) >= 0)
        snprintf(text, room,
                 "but has rank %d's number in it twice: n ranks need n - 1 steps, and each chunk "
                 "is added to once in each",
                 twice);
    else if (set)
        snprintf(text, room,
                 "but is the sum of rank %s only, without rank %s: a step too few, or a chunk "
                 "that was passed on before it was added to",
                 ranks, missing);
    else
        snprintf(text, room,
                 "but is made of other elements: a wrong chunk (which chunk goes in which step?), "
                 "or an inbox that was filled again "
                 "before it had been read%s",
                 c->then ? " (by the call that followed)" : "");
}

#endif
