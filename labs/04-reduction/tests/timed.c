/* SPDX-License-Identifier: MIT
 * timed.c: how long the sum of 2^24 numbers takes on all GPUs of a node, on three kinds of node
 * (./lab grade --leaderboard).
 */
#include "ask.h"

#define TIMED_NUMBERS ((size_t)1 << 24)

/* Each GPU reads its numbers, in kernels of its own; partials and sums, and nothing else, come to
 * the host. */
static void expect_sum_work(struct lab_test *t, const struct lab_run *run,
                            const struct timed_in *in)
{
    const uint64_t partials = (uint64_t)in->gpus * TIMED_BLOCKS * sizeof(float);
    for (int gpu = 0; gpu < in->gpus && lab_is_virtual(t); gpu++) {
        struct lab_kernels kernels = lab_kernels_within(run, NULL, gpu);
        lab_expect(t, kernels.bytes >= in->count * sizeof(float),
                   "the kernels on GPU %d read and wrote %zu bytes, and its numbers are %zu", gpu,
                   (size_t)kernels.bytes, (size_t)in->count * sizeof(float));
    }
    lab_host_bytes(t, run, "the sum", partials + sizeof(double), 0);
    lab_no_host_memory(t, run, "the sum");
}

static void time_sum(struct lab_test *t, const char *node, int peer, int naive)
{
    static float data[TIMED_NUMBERS];
    struct lab_moved moved = {.graph = false};
    struct timed_in in = {.peer = peer, .naive = naive};
    double want = 0;
    lab_node(t, node);
    lab_env(t, "VGPU_CHECK", "api"); /* the tests look for races */
    in.gpus = lab_gpus(t);
    in.count = TIMED_NUMBERS / (uint64_t)in.gpus;
    fill_numbers(data, TIMED_NUMBERS, WHOLE, lab_secret(t));
    for (size_t i = 0; i < TIMED_NUMBERS; i++)
        want += data[i];
    for (int gpu = 0; gpu < in.gpus; gpu++)
        moved.loaded[gpu] = in.count * sizeof(float);
    moved.kernels = (uint64_t)in.gpus * in.count * sizeof(float); /* each number is read */
    lab_seal(t, data, sizeof data, 0);
    struct lab_run *run = lab_run(t, "timed", &in, sizeof in, sizeof(struct timed_out));
    const struct timed_out *out = lab_output(run);
    lab_expect(t, out->opened == LAB_OK && out->rc == LAB_OK,
               "sum_open returned %s, the sum %s, expected LAB_OK", result_name(out->opened),
               result_name(out->rc));
    lab_expect(t, out->sum == want, "the sum is %.17g, expected %.17g", out->sum, want);
    expect_sum_work(t, run, &in);
    lab_nothing_leaked(t, run);
    lab_timed(t, run, &moved, in.count * sizeof(float), out->seconds);
}

/* On pcie-dual-socket-4 GPU 0 cannot reach all others, so the host adds the partials. */
#define TIMED(name, node, peer)                                                                    \
    static void time_##name(struct lab_test *t)                                                    \
    {                                                                                              \
        time_sum(t, node, peer, 0);                                                                \
    }                                                                                              \
    static void naive_##name(struct lab_test *t)                                                   \
    {                                                                                              \
        time_sum(t, node, 0, 1);                                                                   \
    }
TIMED(h200, "hgx-h200-4", 1)
TIMED(a100, "dgx-a100", 1)
TIMED(pcie, "pcie-dual-socket-4", 0)

#define CASE(node, function, what)                                                                 \
    {                                                                                              \
        .name = (node), .title = (what), .one_order = true, .min_gpus = 2, .wants_gpus = 8,        \
        .timed = true, .check = (function)                                                         \
    }

LAB_CASES = {
    CASE("hgx-h200-4", time_h200, "the sum of 2^24 numbers"),
    CASE("dgx-a100", time_a100, "the sum of 2^24 numbers"),
    CASE("pcie-dual-socket-4", time_pcie, "the sum of 2^24 numbers"),
    CASE("naive-hgx-h200-4", naive_h200, "one GPU after the other"),
    CASE("naive-dgx-a100", naive_a100, "one GPU after the other"),
    CASE("naive-pcie-dual-socket-4", naive_pcie, "one GPU after the other"),
    {0},
};
