/* SPDX-License-Identifier: MIT
 * public_fast.h: the public tests of the fast part, TODO(6) to TODO(8).
 */
#ifndef LAB07_PUBLIC_FAST_H
#define LAB07_PUBLIC_FAST_H

#include "asks.h"
#include "orders.h"

/* ---- TODO(6) ---- */

/* A call that another one follows at once, which fills the same inboxes with other numbers. */
static void ask_followed(struct lab_test *t, int32_t what, int32_t then)
{
    struct ring_call call = {.what = what, .then = then, .n = 4, .count = 4003, .slices = 3};
    ask_rings(t, &call, 1);
}

static void check_pipelined(struct lab_test *t)
{
    ask_followed(t, DO_REDUCE_SCATTER, DO_PIPELINED);
    ask_counts(t, DO_PIPELINED, 0);
    ask_counts(t, DO_PIPELINED, 1);
    ask_bits(t, DO_PIPELINED);
    ask_mixed(t, DO_PIPELINED);
}

/* Slices of all numbers; chunks that differ by one element, so that slices differ, too. */
static void check_pipelined_slices(struct lab_test *t)
{
    static const int slices[] = {1, 2, 3, 7, RING_SLICES};
    struct ring_call call[COUNT(slices) * 2];
    memset(call, 0, sizeof call);
    for (size_t i = 0; i < COUNT(call); i++)
        call[i] = (struct ring_call){.what = DO_PIPELINED,
                                     .n = 4,
                                     .count = i % 2 ? 1003 : 4095,
                                     .type = RING_FLOAT32,
                                     .slices = slices[i / 2],
                                     .repeats = 2,
                                     .graph = i % 2};
    ask_rings(t, call, COUNT(call));
    ask_refusals(t, DO_PIPELINED);
}

static void check_pipelined_bytes(struct lab_test *t)
{
    static const struct failure fails[] = {
        {"call:copy=5", FAILS, 1},       {"call:record=1", FAILS_RECORD, 0},
        {"call:wait=1", FAILS_WAIT, 0},  {"call:copy=5", FAILS, 0},
        {"call:launch=1", FAILS, 0},     {"call:record=9", FAILS_RECORD, 0},
        {"call:wait=41", FAILS_WAIT, 0}, {"call:wait=65", FAILS_WAIT, 0},
        {"call:copy=29", FAILS, 0},      {"call:wait=89", FAILS_WAIT, 0},
    };
    ask_traffic(t, DO_PIPELINED);
    ask_waits(t, (struct ring_call){.what = DO_PIPELINED, .n = 4, .count = 1000});
    ask_failures(t, DO_PIPELINED, fails, COUNT(fails));
    ask_each_call(t, DO_PIPELINED);
}

static void check_pipelined_fast(struct lab_test *t)
{
    expect_fast(t, "hgx-h200-4", 4, 397);
}

/* ---- TODO(7) ---- */

static void check_order(struct lab_test *t)
{
    static const int trap[][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 2}, {2, 1}, {1, 3}, {3, 0}};
    struct order_in in[9];
    all_linked(&in[0], 1, 0);
    all_linked(&in[1], 2, 1);
    all_linked(&in[2], 4, 18);
    all_linked(&in[3], 8, 1);
    memcpy(in[3].links, cube_mesh, sizeof cube_mesh);
    all_linked(&in[4], 4, 0); /* in one direction only: 0 2 1 3 */
    link_pair(&in[4], 0, 2, 1);
    link_pair(&in[4], 2, 1, 1);
    link_pair(&in[4], 1, 3, 1);
    link_pair(&in[4], 3, 0, 1);
    all_linked(&in[5], 4, 2); /* GPU 3 is reached, and leads nowhere */
    for (int to = 0; to < 3; to++)
        link_pair(&in[5], 3, to, 0);
    all_linked(&in[6], 4, 0); /* 0 1 2 goes nowhere: one must step back to find 0 2 1 3 */
    for (size_t i = 0; i < COUNT(trap); i++)
        link_pair(&in[6], trap[i][0], trap[i][1], 1);
    all_linked(&in[7], 4, 1);
    in[7].no_links = 1;
    all_linked(&in[8], 4, 1);
    in[8].no_order = 1;
    ask_orders(t, in, COUNT(in), 2);
}

static void check_order_widest(struct lab_test *t)
{
    struct order_in in[6];
    for (size_t i = 0; i < COUNT(in); i++) {
        int n = 4 + (int)i % 4;
        uint64_t seed = lab_random(t);
        all_linked(&in[i], n, 0);
        for (int k = 0; k < n * n; k++)
            in[i].links[k] = (uint8_t)(io_mix(seed + (uint64_t)k) % (i % 2 ? 6 : 256));
    }
    ask_orders(t, in, COUNT(in), 0);
}

/* ---- TODO(8) ---- */

static void check_one_shot(struct lab_test *t)
{
    static const struct failure fails[] = {{"call:copy=5", FAILS, 0},
                                           {"call:record=1", FAILS_RECORD, 0},
                                           {"call:wait=1", FAILS_WAIT, 0},
                                           {"call:launch=1", FAILS, 0},
                                           {"call:wait=13", FAILS_WAIT, 0}};
    struct ring_call call[18];
    for (size_t i = 0; i < COUNT(call); i++)
        call[i] = (struct ring_call){.what = DO_ONE_SHOT,
                                     .n = 1 + (int)i % 4,
                                     .count = i < 9 ? i : 200,
                                     .type = (int)i % 3,
                                     .op = (int)i % 2,
                                     .out_of_place = (int)i / 2 % 2,
                                     .repeats = 3};
    ask_rings(t, call, COUNT(call));
    ask_bits(t, DO_ONE_SHOT);
    ask_mixed(t, DO_ONE_SHOT);
    ask_followed(t, DO_ONE_SHOT, DO_ALL_REDUCE);
    ask_refusals(t, DO_ONE_SHOT);
    ask_failures(t, DO_ONE_SHOT, fails, COUNT(fails));
    ask_each_call(t, DO_ONE_SHOT);
}

/* Which of the two it was is seen by who moved the bytes: copies from rank to rank, or kernels. */
static void ask_pick(struct lab_test *t, const char *node, int small, bool one_shot)
{
    struct ring_call call = {
        .what = DO_PICK, .n = 2, .count = 1000, .small = small, .out_of_place = 1, .repeats = 2};
    lab_node(t, node);
    const struct lab_witness *w = lab_witness(ask_rings(t, &call, 1));
    lab_expect(
        t, (w->copied[0][1] == 0) == one_shot,
        "ring_pick of 4000 bytes on %s, where up to %d are small: %zu bytes went from rank 0 "
        "to rank 1, expected %s",
        node, small, (size_t)w->copied[0][1],
        one_shot ? "none: they are read where they lie" : "the ring's");
}

static void check_pick(struct lab_test *t)
{
    ask_pick(t, "hgx-h200-4", 4000, true);
    ask_pick(t, "hgx-h200-4", 3999, false);
    ask_refusals(t, DO_PICK);
    ask_each_call(t, DO_PICK);
    ask_pick(t, "pcie-4090-2", 4000, false);
}

#endif
