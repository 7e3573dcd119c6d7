/* SPDX-License-Identifier: MIT
 * timed.c: how long p2p_copy takes for 64 MiB, on three kinds of node (./lab grade --leaderboard).
 */
#include "common.h"

#define TIMED_BYTES (64 * MIB)

static unsigned char *fill_timed(struct lab_test *t)
{
    static uint64_t data[TIMED_BYTES / sizeof(uint64_t)];
    uint64_t x = lab_secret(t) | 1;
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17; /* xorshift */
        data[i] = x;
    }
    return (unsigned char *)data;
}

/* The lab's contract: one path, and all bytes go along it once. */
static void expect_path(struct lab_test *t, const struct lab_run *run, const struct timed_in *in,
                        const struct timed_out *out, enum path path)
{
    const struct lab_witness *w = lab_witness(run);
    int src = in->src_dev, dst = in->dst_dev;
    uint64_t direct = path == PATH_PEER ? in->bytes : 0, hops = in->bytes - direct;
    if (!w)
        return; /* another machine has other paths */
    lab_expect(t, out->taken == (int)path, "*taken is %s, expected %s", path_text(out->taken),
               path_text((int)path));
    lab_expect(t,
               w->copied[src][dst] == direct && w->copied[src][LAB_HOST] == hops &&
                   w->copied[LAB_HOST][dst] == hops,
               "%zu bytes went from GPU %d to GPU %d, %zu from GPU %d to the host and %zu from the "
               "host to GPU %d, expected %zu, %zu and %zu",
               (size_t)w->copied[src][dst], src, dst, (size_t)w->copied[src][LAB_HOST], src,
               (size_t)w->copied[LAB_HOST][dst], dst, (size_t)direct, (size_t)hops, (size_t)hops);
}

static void time_copy(struct lab_test *t, const char *node, int src, int dst, int naive)
{
    struct timed_in in = {.dst_dev = dst, .src_dev = src, .naive = naive};
    struct lab_moved moved = {.graph = false};
    const unsigned char *data = fill_timed(t);
    in.bytes = TIMED_BYTES;
    in.chunk = TIMED_BYTES / 16;
    moved.loaded[src] = moved.stored[dst] = in.bytes;
    lab_node(t, node);
    lab_env(t, "VGPU_CHECK", "api"); /* the tests look for races */
    lab_seal(t, data, in.bytes, in.bytes);
    struct lab_run *run = lab_run(t, "timed", &in, sizeof in, sizeof(struct timed_out));
    const struct timed_out *out = lab_output(run);
    expect_rc(t, "the set-up, with stage_create,", out->setup, LAB_OK);
    expect_rc(t, "p2p_copy of 64 MiB", out->rc, LAB_OK);
    lab_same_bytes(t, "what arrived", lab_sealed_output(run), data, in.bytes);
    if (!naive)
        expect_path(t, run, &in, out, dst - src > 1 ? PATH_STAGED : PATH_PEER);
    lab_nothing_leaked(t, run);
    lab_timed(t, run, &moved, in.bytes, out->seconds);
}

/* On pcie-dual-socket-4, GPUs 0 and 2 are on different sockets, without peer access. */
#define TIMED(name, node, dst)                                                                     \
    static void time_##name(struct lab_test *t)                                                    \
    {                                                                                              \
        time_copy(t, node, 0, dst, 0);                                                             \
    }                                                                                              \
    static void naive_##name(struct lab_test *t)                                                   \
    {                                                                                              \
        time_copy(t, node, 0, dst, 1);                                                             \
    }
TIMED(h200, "hgx-h200-4", 1)
TIMED(a100, "dgx-a100", 1)
TIMED(pcie, "pcie-dual-socket-4", 2)

#define CASE(node, function, what)                                                                 \
    {                                                                                              \
        .name = (node), .title = (what), .one_order = true, .min_gpus = 2, .wants_gpus = 8,        \
        .timed = true, .check = (function)                                                         \
    }

LAB_CASES = {
    CASE("hgx-h200-4", time_h200, "64 MiB from GPU 0 to GPU 1"),
    CASE("dgx-a100", time_a100, "64 MiB from GPU 0 to GPU 1"),
    CASE("pcie-dual-socket-4", time_pcie, "64 MiB from GPU 0 to GPU 2"),
    CASE("naive-hgx-h200-4", naive_h200, "down, and then up"),
    CASE("naive-dgx-a100", naive_a100, "down, and then up"),
    CASE("naive-pcie-dual-socket-4", naive_pcie, "down, and then up"),
    {0},
};
