/* SPDX-License-Identifier: MIT
 * hidden.c: lab 07's hidden tests: five and eight ranks, primes and a million elements, machines
 * without peer access and with few links, and the speed of eight GPUs.
 */
#include "asks.h"
#include "companions.h"
#include "orders.h"

static void check_reduce(struct lab_test *t)
{
    struct reduce_in in = {.calls = 6};
    for (size_t i = 0; i < in.calls; i++)
        in.call[i] = (struct reduce_call){
            .gpu = 3, .type = (int)i / 2, .op = (int)i % 2, .count = 65536 + lab_random(t) % 10000};
    ask_reduce(t, &in, false);
    if (!lab_is_virtual(t))
        return;
    ask_far_grid(t, 40);
    ask_beyond_int(t, FAR_REDUCE);
}

static void check_no_gpu(struct lab_test *t)
{
    struct reduce_in in = {.calls = 3,
                           .call = {{.count = 10}, {.count = 0}, {.count = 10, .no_src = 1}}};
    if (!lab_is_virtual(t))
        lab_cannot_run(t, "it needs a machine without a GPU");
    lab_node(t, "none");
    ask_reduce(t, &in, true);
}

/* Five and eight ranks, in an order that is not the GPUs', counts that nothing divides. Some of the
 * eight share GPUs. */
static void ask_many(struct lab_test *t, int32_t what)
{
    static const uint64_t counts[] = {0, 1, 4, 5, 6, 7, 8, 9, 101, 20011};
    struct ring_call call[COUNT(counts) * 2];
    memset(call, 0, sizeof call);
    for (size_t i = 0; i < COUNT(call); i++)
        call[i] = (struct ring_call){.what = what,
                                     .n = i % 2 ? 8 : 5,
                                     .count = counts[i / 2],
                                     .gpu = {3, 6, 1, 0, 7, 5, 2, 4},
                                     .current = 4,
                                     .type = (int)(i / 2) % 3,
                                     .op = (int)i / 4 % 2,
                                     .slices = 1 + (int)(lab_random(t) % 6),
                                     .out_of_place = what >= DO_ALL_REDUCE && i % 3 == 0,
                                     .repeats = 2};
    for (size_t i = 1; i < COUNT(call); i += 4)
        for (int r = 0; r < 8; r++) /* two ranks that follow each other share one, or do not */
            call[i].gpu[r] = (int)(i + (size_t)r / (i % 8 == 1 ? 2 : 1)) % 3;
    lab_node(t, "dgx-a100");
    ask_rings(t, call, COUNT(call));
}

static void check_scatter_many(struct lab_test *t)
{
    ask_many(t, DO_REDUCE_SCATTER);
}

static void check_gather_many(struct lab_test *t)
{
    ask_many(t, DO_ALL_GATHER);
}

static void check_all_many(struct lab_test *t)
{
    ask_many(t, DO_ALL_REDUCE);
}

static void check_pipelined_many(struct lab_test *t)
{
    ask_many(t, DO_PIPELINED);
    if (!lab_is_virtual(t))
        return;
    lab_node(t, "hgx-h200-4");
    ask_far_slices(t);
}

static void check_one_shot_many(struct lab_test *t)
{
    struct ring_call far = {.what = DO_ONE_SHOT, .n = 2, .count = 600011}; /* beyond any grid */
    ask_many(t, DO_ONE_SHOT);
    ask_rings(t, &far, 1);
    if (lab_is_virtual(t))
        ask_beyond_int(t, FAR_ONE_SHOT);
}

/* 2^20 + 3 elements, ints and floats that are rounded. */
static void check_million(struct lab_test *t)
{
    struct ring_call call[] = {
        {.what = DO_ALL_REDUCE, .n = 3, .count = (1 << 20) + 3},
        {.what = DO_ALL_REDUCE, .n = 4, .count = (1 << 20) + 3, .type = RING_FLOAT32},
    };
    call[1].numbers = REAL;
    call[1].repeats = 2;
    ask_rings(t, call, COUNT(call));
}

/* The core's functions in a graph, launched again and again. */
static void check_all_graph(struct lab_test *t)
{
    struct ring_call call[] = {
        {.what = DO_ALL_REDUCE, .n = 4, .count = 5000, .graph = 1, .repeats = 3},
        {.what = DO_ALL_REDUCE, .n = 2, .count = 501, .graph = 1, .repeats = 2},
        {.what = DO_REDUCE_SCATTER, .n = 4, .count = 999, .graph = 1},
        {.what = DO_ALL_GATHER, .n = 3, .count = 1000, .graph = 1},
    };
    call[1].out_of_place = 1;
    ask_rings(t, call, COUNT(call));
}

/* Without peer access, and with access in one direction: through the host, and right, in a graph as
 * well. */
static void check_all_far(struct lab_test *t)
{
    static const char *const nodes[] = {"pcie-4090-2", "oneway-2"};
    if (!lab_is_virtual(t))
        lab_cannot_run(t, "it needs GPUs without peer access");
    for (size_t i = 0; i < COUNT(nodes); i++) {
        struct ring_call call[] = {
            {.what = DO_ALL_REDUCE, .n = 2, .count = 30011, .repeats = 2},
            {.what = DO_ALL_REDUCE, .n = 2, .count = 501, .repeats = 2, .graph = 1},
        };
        lab_node(t, nodes[i]);
        ask_rings(t, call, COUNT(call));
    }
}

static void check_all_bits_eight(struct lab_test *t)
{
    struct ring_call exact = {.what = DO_ALL_REDUCE, .n = 8, .count = (1 << 20) + 3};
    struct ring_call call[] = {
        {.what = DO_ALL_REDUCE, .n = 8, .count = 10007, .repeats = 3},
        {.what = DO_PIPELINED, .n = 8, .count = 10007, .repeats = 3},
    };
    for (size_t i = 0; i < COUNT(call); i++) {
        call[i].type = RING_FLOAT32;
        call[i].numbers = REAL;
    }
    lab_node(t, "dgx-a100");
    ask_rings(t, call, COUNT(call));
    ask_rings(t, &exact, 1);
}

static void check_pipelined_eight(struct lab_test *t)
{
    expect_fast(t, "dgx-a100", 8, 278);
}

static void check_order_many(struct lab_test *t)
{
    struct order_in in[9];
    for (size_t i = 0; i < COUNT(in); i++) {
        int n = i < 4 ? 8 : 2 + (int)i % 6;
        uint64_t seed = lab_random(t);
        all_linked(&in[i], n, 0);
        for (int k = 0; k < n * n; k++)
            in[i].links[k] = (uint8_t)(io_mix(seed + (uint64_t)k) % (2 + i % 3));
    }
    in[7].n = 0;
    in[8].n = RING_RANKS + 1;
    ask_orders(t, in, COUNT(in), 2);
}

/* On a hybrid cube mesh the ring 0, 1, ... 7 crosses pairs that have no link. */
static void check_order_mesh(struct lab_test *t)
{
    struct ring_call call = {.what = DO_ALL_REDUCE, .n = 8, .count = 40009, .by_links = 1};
    lab_node(t, "dgx1-v100");
    struct lab_run *run = ask_rings(t, &call, 1);
    const struct lab_witness *w = lab_witness(run);
    int used = 0;
    for (int from = 0; from < 8; from++)
        for (int to = 0; to < 8; to++) {
            uint64_t moved = from == to ? 0 : w->copied[from][to];
            lab_expect(t, moved == 0 || cube_mesh[from * 8 + to] > 0,
                       "%zu bytes went from GPU %d to GPU %d, which have no NVLink: through the "
                       "host",
                       (size_t)moved, from, to);
            used += moved > 0;
        }
    lab_expect(t, used == 8, "%d pairs of GPUs were used, expected the 8 of a ring", used);
}

static void check_one_shot_alone(struct lab_test *t)
{
    struct ring_call call = {.what = DO_ONE_SHOT, .n = 2, .count = 100, .want = LAB_ENOPEER};
    if (!lab_is_virtual(t))
        lab_cannot_run(t, "it needs GPUs without peer access");
    lab_node(t, "pcie-4090-2");
    ask_rings(t, &call, 1);
}

LAB_CASES = {
    {.name = "reduce",
     .todo = 2,
     .title = "long arrays of all types",
     .points = 1,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_reduce},
    {.name = "no_gpu",
     .todo = 2,
     .title = "without a GPU it returns an error",
     .points = 1,
     .check = check_no_gpu},
    {.name = "scatter_many",
     .todo = 3,
     .title = "five and eight ranks, in any order of GPUs, which ranks may share",
     .points = 3,
     .min_gpus = 1,
     .wants_gpus = 8,
     .one_order = true,
     .check = check_scatter_many},
    {.name = "gather_many",
     .todo = 4,
     .title = "five and eight ranks, in any order of GPUs, which ranks may share",
     .points = 3,
     .min_gpus = 1,
     .wants_gpus = 8,
     .one_order = true,
     .check = check_gather_many},
    {.name = "all_many",
     .todo = 5,
     .title = "five and eight ranks, in any order of GPUs, which ranks may share",
     .points = 2,
     .min_gpus = 1,
     .wants_gpus = 8,
     .one_order = true,
     .check = check_all_many},
    {.name = "million",
     .todo = 0,
     .title = "2^20 + 3 elements",
     .points = 1,
     .min_gpus = 1,
     .wants_gpus = 4,
     .one_order = true,
     .check = check_million},
    {.name = "all_graph",
     .todo = 5,
     .title = "captured in a graph, and launched again",
     .points = 2,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_all_graph},
    {.name = "all_far",
     .todo = 0,
     .title = "right, if slow, where GPUs cannot reach each other",
     .points = 1,
     .check = check_all_far},
    {.name = "all_bits_eight",
     .todo = 0,
     .title = "2^20 + 3 elements, and the same bits, on eight ranks",
     .points = 1,
     .min_gpus = 1,
     .wants_gpus = 8,
     .one_order = true,
     .check = check_all_bits_eight},
    {.name = "pipelined_many",
     .todo = 6,
     .title = "five and eight ranks, in any order of GPUs, which ranks may share",
     .points = 2,
     .min_gpus = 1,
     .wants_gpus = 8,
     .one_order = true,
     .check = check_pipelined_many},
    {.name = "pipelined_eight",
     .todo = 6,
     .title = "64 MiB on eight A100: at least 80 % of what the ports allow",
     .rule = "a port is idle if its rank sends nothing while something is added",
     .points = 3,
     .needs_witness = true,
     .one_order = true,
     .check = check_pipelined_eight},
    {.name = "order_many",
     .todo = 7,
     .title = "rings that exist, rings that do not, the widest",
     .points = 2,
     .check = check_order_many},
    {.name = "order_mesh",
     .todo = 7,
     .title = "on a hybrid cube mesh only pairs with NVLink carry the ring",
     .rule = "CUDA does not forward copies: two GPUs without a link copy through the host",
     .points = 3,
     .needs_witness = true,
     .check = check_order_mesh},
    {.name = "one_shot_many",
     .todo = 8,
     .title = "bonus: five and eight ranks",
     .points = 0,
     .min_gpus = 1,
     .wants_gpus = 8,
     .one_order = true,
     .check = check_one_shot_many},
    {.name = "one_shot_alone",
     .todo = 8,
     .title = "bonus: without peer access it returns LAB_ENOPEER",
     .points = 0,
     .check = check_one_shot_alone},
    {.name = "companions",
     .todo = 0,
     .title = "broadcast, reduce and the others that come with the lab are right",
     .points = 0,
     .min_gpus = 8,
     .one_order = true,
     .check = check_companions},
    {.name = "companions_cost",
     .todo = 0,
     .title = "and cost what their table says",
     .points = 0,
     .needs_witness = true,
     .one_order = true,
     .check = check_companions_cost},
    {0},
};
