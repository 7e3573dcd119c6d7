/* SPDX-License-Identifier: MIT
 * companions.h: the collectives that come with the lab: right, and as dear as their table says.
 */
#ifndef LAB07_COMPANIONS_H
#define LAB07_COMPANIONS_H

#include "measures.h"

/* The table of collectives.h for n ranks that hold `bytes` each, n a divisor of it. */
static inline uint64_t busiest_wanted(int what, int n, uint64_t bytes)
{
    uint64_t others = (uint64_t)n - 1;
    switch (what) {
    case DO_BROADCAST:
    case DO_REDUCE:
        return bytes;
    case DO_DIRECT_ALL:
        return 2 * bytes / (uint64_t)n * others;
    case DO_NAIVE:
        return bytes * others;
    default:
        return bytes / (uint64_t)n * others;
    }
}

static inline uint64_t total_wanted(int what, int n, uint64_t bytes)
{
    uint64_t both = what == DO_DIRECT_ALL || what == DO_NAIVE ? 2 : 1;
    return both * bytes * ((uint64_t)n - 1);
}

static inline void ask_cost(struct lab_test *t, struct ring_call *c)
{
    const struct lab_witness *w = lab_witness(ask_rings(t, c, 1));
    uint64_t total = 0, busiest = 0, bytes = c->count * type_bytes(c->type);
    char what[160];
    say_call(what, sizeof what, c);
    for (int from = 0; from < c->n; from++) {
        uint64_t out = 0;
        for (int to = 0; to < c->n; to++)
            out += from == to ? 0 : w->copied[from][to];
        total += out;
        busiest = out > busiest ? out : busiest;
    }
    lab_expect(t, busiest == busiest_wanted(c->what, c->n, bytes),
               "%s: %zu bytes left the busiest rank, its table says %zu", what, (size_t)busiest,
               (size_t)busiest_wanted(c->what, c->n, bytes));
    lab_expect(t, total == total_wanted(c->what, c->n, bytes),
               "%s: %zu bytes in all, its table says %zu", what, (size_t)total,
               (size_t)total_wanted(c->what, c->n, bytes));
}

/* Each companion on 1, 2, 4, 5 and 8 ranks, sums and largest, from several roots. */
static void check_companions(struct lab_test *t)
{
    static const int ranks[] = {1, 2, 4, 5, 8};
    struct ring_call call[COUNT(ranks) * 2];
    lab_node(t, "dgx-a100");
    for (int what = DO_BROADCAST; what <= DO_NAIVE; what++) {
        memset(call, 0, sizeof call);
        for (size_t i = 0; i < COUNT(call); i++) {
            int n = ranks[i / 2];
            uint64_t each = (uint64_t)n, count = i % 2 ? 3001 : each * 3;
            call[i] =
                (struct ring_call){.what = what,
                                   .n = n,
                                   .count = what == DO_ALL_TO_ALL ? count / each * each : count,
                                   .type = (int)i % 3,
                                   .op = (int)i / 3 % 2,
                                   .root = n - 1 - (int)i % n,
                                   .out_of_place = what == DO_ALL_TO_ALL,
                                   .repeats = 2};
        }
        ask_rings(t, call, COUNT(call));
    }
}

static void check_companions_cost(struct lab_test *t)
{
    lab_node(t, "dgx-a100");
    for (int what = DO_BROADCAST; what <= DO_NAIVE; what++) {
        struct ring_call call = {.what = what,
                                 .n = 8,
                                 .count = 8 * 1000,
                                 .root = 3,
                                 .out_of_place = what == DO_ALL_TO_ALL};
        ask_cost(t, &call);
        ask_waits(t, call);
    }
}

#endif
