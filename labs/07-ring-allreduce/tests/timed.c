/* SPDX-License-Identifier: MIT
 * timed.c: how long ring_pipelined takes for 16 MiB on each GPU of a node, on three kinds of node
 * (./lab grade --leaderboard).
 */
#include "common.h"

#define TIMED_COUNT ((size_t)4 << 20)
#define TIMED_BYTES (TIMED_COUNT * sizeof(int32_t))

static int32_t *fill_timed(struct lab_test *t, int n, int32_t *sum)
{
    static int32_t data[RING_RANKS * TIMED_COUNT];
    uint64_t seed = lab_secret(t);
    memset(sum, 0, TIMED_BYTES);
    for (int r = 0; r < n; r++)
        for (size_t i = 0; i < TIMED_COUNT; i++) {
            int32_t value = io_whole(seed, r, i);
            data[(size_t)r * TIMED_COUNT + i] = value;
            sum[i] += value;
        }
    return data;
}

static void time_ring(struct lab_test *t, const char *node, int naive)
{
    static int32_t want[TIMED_COUNT];
    struct lab_moved moved = {.graph = true};
    struct timed_in in = {.naive = naive, .count = TIMED_COUNT};
    lab_node(t, node);
    lab_env(t, "VGPU_CHECK", "api"); /* the tests look for races */
    in.n = lab_gpus(t);
    const int32_t *data = fill_timed(t, in.n, want);
    for (int r = 0; r < in.n; r++)
        moved.loaded[r] = moved.stored[r] = TIMED_BYTES;
    /* Kernels read each number and write each sum; docs/leaderboard.md derives the other one. */
    moved.kernels = ((uint64_t)in.n + 1) * TIMED_BYTES;
    moved.between = 2 * ((uint64_t)in.n - 1) * TIMED_BYTES;
    lab_seal(t, data, (size_t)in.n * TIMED_BYTES, (size_t)in.n * TIMED_BYTES);
    struct lab_run *run = lab_run(t, "timed", &in, sizeof in, sizeof(struct timed_out));
    const struct timed_out *out = lab_output(run);
    const unsigned char *got = lab_sealed_output(run);
    lab_expect(t, out->opened == LAB_OK && out->rc == LAB_OK && out->ended == LAB_OK,
               "ring_open returned %s, the all-reduce %s, waiting for it %s", rc_name(out->opened),
               rc_name(out->rc), rc_name(out->ended));
    lab_expect(t, out->captured == LAB_OK, "the graph could not be captured or launched (%s)",
               rc_name(out->captured));
    for (int r = 0; r < in.n; r++) {
        char what[40];
        snprintf(what, sizeof what, "the sum of rank %d", r);
        lab_same_bytes(t, what, got + (size_t)r * TIMED_BYTES, want, TIMED_BYTES);
    }
    lab_host_bytes(t, run, "the all-reduce", 0, 0);
    lab_no_host_memory(t, run, "the all-reduce");
    lab_nothing_leaked(t, run);
    lab_timed(t, run, &moved, TIMED_BYTES, out->seconds);
}

#define TIMED(name, node)                                                                          \
    static void time_##name(struct lab_test *t)                                                    \
    {                                                                                              \
        time_ring(t, node, 0);                                                                     \
    }                                                                                              \
    static void naive_##name(struct lab_test *t)                                                   \
    {                                                                                              \
        time_ring(t, node, 1);                                                                     \
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
    CASE("hgx-h200-4", time_h200, "all-reduce of 16 MiB on 4 GPUs"),
    CASE("dgx-a100", time_a100, "all-reduce of 16 MiB on 8 GPUs"),
    CASE("pcie-dual-socket-4", time_pcie, "all-reduce of 16 MiB on 4 GPUs"),
    CASE("naive-hgx-h200-4", naive_h200, "everything to rank 0, and back"),
    CASE("naive-dgx-a100", naive_a100, "everything to rank 0, and back"),
    CASE("naive-pcie-dual-socket-4", naive_pcie, "the same"),
    {0},
};
