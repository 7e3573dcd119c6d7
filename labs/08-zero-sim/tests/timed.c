/* SPDX-License-Identifier: MIT
 * timed.c: how long it takes to reduce the gradients and to gather the parameters of a model of
 * 2^22 parameters in stage 2, on three kinds of node (./lab grade --leaderboard). That is what
 * stages differ in; the network's own arithmetic is too small to be timed.
 */
#include "moves.h"

/* fc1: 3 inputs and a bias, fc2: 4 outputs, a bias each: 8 numbers for each hidden neuron, and 4.
 */
#define TIMED_HIDDEN (((uint64_t)1 << 18) - 1)
#define TIMED_PARAMS (8 * TIMED_HIDDEN + 4)
#define TIMED_MOST ((TIMED_PARAMS + IO_RANKS) * (IO_RANKS + 1))

struct timed_data { /* of a rank: its gradients and the parameters that it owns */
    const uint16_t *grad[IO_RANKS], *param[IO_RANKS];
};

static const uint16_t *seal_timed(struct lab_test *t, int n, uint64_t padded,
                                  struct timed_data *data)
{
    static uint16_t half[TIMED_MOST], value[64];
    uint64_t seed = lab_secret(t), shard = padded / (uint64_t)n, used = 0;
    for (uint64_t i = 0; i < 64; i++)
        value[i] = small_half(i);
    for (int r = 0; r < n; r++) {
        data->grad[r] = half + used;
        data->param[r] = half + used + padded;
        for (uint64_t i = 0; i < padded + shard; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            half[used++] = value[seed >> 58];
        }
    }
    lab_seal(t, half, 2 * used, 2 * used);
    return half;
}

static void expect_owned(struct lab_test *t, const struct timed_data *data, int n, int rank,
                         const uint16_t *got, uint64_t shard)
{
    for (uint64_t i = 0; i < shard; i++) {
        float want = 0;
        for (int r = 0; r < n; r++)
            want += half_value(data->grad[r][shard * (uint64_t)rank + i]);
        lab_expect(t, half_value(got[i]) == want,
                   "rank %d's owned gradient %" PRIu64 " is %g, expected %g", rank, i,
                   half_value(got[i]), want);
    }
}

static void expect_all(struct lab_test *t, const struct lab_run *run, const struct timed_data *data,
                       int n, uint64_t padded, uint64_t shard)
{
    const uint16_t *got = lab_sealed_output(run);
    for (int r = 0; r < n; r++, got += shard + padded) {
        char what[60];
        expect_owned(t, data, n, r, got, shard);
        for (int from = 0; from < n; from++) {
            snprintf(what, sizeof what, "rank %d's parameters of rank %d", r, from);
            lab_same_bytes(t, what, got + shard + shard * (uint64_t)from, data->param[from],
                           2 * shard);
        }
    }
}

static void time_step(struct lab_test *t, const char *node, int naive)
{
    struct timed_data data;
    struct lab_moved moved = {.graph = true};
    struct timed_in in = {.naive = naive};
    lab_node(t, node);
    lab_env(t, "VGPU_CHECK", "api"); /* the tests look for races */
    in.ranks = lab_gpus(t);
    in.net = (struct io_net){3, (int)TIMED_HIDDEN, 4, in.ranks, 1};
    uint64_t n = (uint64_t)in.ranks, padded = (TIMED_PARAMS + n - 1) / n * n, shard = padded / n;
    seal_timed(t, in.ranks, padded, &data);
    for (int r = 0; r < in.ranks; r++)
        moved.loaded[r] = moved.stored[r] = 2 * (padded + shard);
    /* As in lab 07: each gradient is read, each sum written, and parameters go to all. */
    moved.kernels = (n + 1) * 2 * padded;
    moved.between = 2 * (n - 1) * 2 * padded;
    struct lab_run *run = lab_run(t, "timed", &in, sizeof in, sizeof(struct timed_out));
    const struct timed_out *out = lab_output(run);
    expect_rc(t, "zero_run_open", out->opened, LAB_OK);
    expect_rc(t, "zero_memory of what is resident", out->started, LAB_OK);
    expect_bytes(t, "zero_layout of one unit", "padded", out->padded, padded);
    expect_bytes(t, "zero_layout of one unit", "shard", out->shard, shard);
    expect_rc(t, "zero_reduce", out->reduced, LAB_OK);
    expect_rc(t, "zero_gather", out->gathered, LAB_OK);
    expect_rc(t, "capturing and launching them as a graph", out->captured, LAB_OK);
    expect_rc(t, "the work on the GPUs", out->ended, LAB_OK);
    expect_all(t, run, &data, in.ranks, padded, shard);
    lab_host_bytes(t, run, "zero_reduce and zero_gather", 0, UINT64_MAX); /* samples go up */
    lab_no_host_memory(t, run, "zero_reduce and zero_gather");
    lab_nothing_leaked(t, run);
    lab_timed(t, run, &moved, 2 * padded, out->seconds);
}

#define TIMED(name, node)                                                                          \
    static void time_##name(struct lab_test *t)                                                    \
    {                                                                                              \
        time_step(t, node, 0);                                                                     \
    }                                                                                              \
    static void naive_##name(struct lab_test *t)                                                   \
    {                                                                                              \
        time_step(t, node, 1);                                                                     \
    }
TIMED(h200, "hgx-h200-4")
TIMED(a100, "dgx-a100")
TIMED(pcie, "pcie-dual-socket-4")

#define CASE(node, function, what)                                                                 \
    {                                                                                              \
        .name = (node), .title = (what), .one_order = true, .min_gpus = 2, .wants_gpus = 8,        \
        .timed = true, .check = (function)                                                         \
    }

LAB_CASES = {
    CASE("hgx-h200-4", time_h200, "gradients reduced, parameters gathered on 4 GPUs"),
    CASE("dgx-a100", time_a100, "gradients reduced, parameters gathered on 8 GPUs"),
    CASE("pcie-dual-socket-4", time_pcie, "gradients reduced, parameters gathered on 4 GPUs"),
    CASE("naive-hgx-h200-4", naive_h200, "gradients all-reduced"),
    CASE("naive-dgx-a100", naive_a100, "gradients all-reduced"),
    CASE("naive-pcie-dual-socket-4", naive_pcie, "gradients all-reduced"),
    {0},
};
