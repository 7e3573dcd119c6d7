/* SPDX-License-Identifier: MIT
 * hidden.c: lab 03's hidden tests: other machines, other pairs, other sizes.
 */
#include "rates.h"

static void check_path_many(struct lab_test *t)
{
    char want[65];
    memset(want, 'P', sizeof want);
    for (int i = 0; i < 8; i++)
        want[i * 9] = 'L';
    lab_node(t, "dgx-a100");
    check_paths(t, 8, want);
    lab_node(t, "single");
    check_paths(t, 1, "L");
}

static void check_peer_copy_other(struct lab_test *t)
{
    const uint64_t sizes[] = {99989, 2, 65536, 0, 131071, 512, 129707};
    struct moves_in in = {.move = MOVE_PEER, .asked = 7, .dst_dev = 6, .src_dev = 3, .streams = 2};
    in.ahead = 1;
    in.current = 5;
    memcpy(in.size, sizes, sizeof sizes);
    lab_node(t, "dgx-a100");
    expect_no_wait(t, check_moves(t, &in, "copy_peer_async", 0), "copy_peer_async");
    in.dst_dev = in.current = 0;
    in.src_dev = 1;
    lab_node(t, "pcie-4090-2"); /* without peer access it is slow, and right */
    check_moves(t, &in, "copy_peer_async", 0);
}

static void stage_moves(struct lab_test *t, int dst, int src, int streams, uint64_t chunk,
                        const uint64_t *sizes, int n)
{
    struct moves_in in = {.move = MOVE_STAGE, .asked = n, .dst_dev = dst, .src_dev = src};
    in.streams = streams;
    in.chunk = chunk;
    in.current = dst;
    memcpy(in.size, sizes, (size_t)n * sizeof *sizes);
    check_moves(t, &in, "stage_copy_async", 0);
}

static void check_stage_copy_other(struct lab_test *t)
{
    const uint64_t bytewise[] = {5, 0, 1, 2, 7}, large[] = {87501, 12289, 0, 125003};
    const uint64_t mixed[] = {40961, 8191, 8192, 8193, 24576, 1, 90001};
    lab_node(t, "pcie-dual-socket-4");
    stage_moves(t, 3, 0, 1, 1, bytewise, 5);
    lab_node(t, "pcie-dual-socket-4");
    stage_moves(t, 0, 2, 2, 8192, mixed, 7);
    lab_node(t, "pcie-4090-2");
    stage_moves(t, 0, 1, 1, 128 * KIB, large, 4);
    lab_node(t, "single");
    stage_moves(t, 0, 0, 2, 8192, mixed, 7);
}

/* What is queued of a copy is not carried out before its program ends. For a chunk beyond 2 GiB a
 * graded run has not the pinned memory: it asks nothing then. */
static void ask_queued(struct lab_test *t, uint64_t bytes, uint64_t chunk)
{
    struct queued_in in = {.dst_dev = 1, .src_dev = 0, .bytes = bytes, .chunk = chunk};
    char call[120];
    snprintf(call, sizeof call, "stage_copy_async of 2^%d + %d bytes in chunks of %d MiB",
             bytes >> 32 ? 32 : 31, (int)(bytes & 0x7fffffff), (int)(chunk >> 20));
    const struct queued_out *out = ASK(t, "queued", &in, queued_out);
    if (out->setup == QUEUED_NO_MEMORY && chunk >> 31)
        return;
    lab_expect(t, out->setup == 0, "the copy could not be set up");
    expect_rc(t, call, out->rc, LAB_OK);
}

/* 2 GiB and 6 MiB, in chunks of 4 MiB. */
static void check_stage_copy_huge(struct lab_test *t)
{
    struct huge_in in = {.dst_dev = 1, .src_dev = 0};
    lab_node(t, "pcie-4090-2");
    lab_env(t, "VGPU_CHECK", "api"); /* so many bytes: other cases look for races */
    const struct huge_out *out = ASK(t, "huge", &in, huge_out);
    lab_expect(t, out->setup == 0, "the copy could not be set up");
    expect_rc(t, "stage_copy_async of more than 2 GiB", out->rc, LAB_OK);
    lab_expect(
        t, out->wrong[0] == 0 && out->wrong[1] == 0,
        "stage_copy_async of more than 2 GiB: %d bytes in front and %d bytes behind 2 GiB are "
        "not those of src",
        out->wrong[0], out->wrong[1]);
    lab_expect(t, out->wrong[2] == 0,
               "stage_copy_async of more than 2 GiB wrote %d bytes behind its destination",
               out->wrong[2]);
    ask_queued(t, (UINT64_C(1) << 32) + 5, 4 << 20);
    ask_queued(t, (UINT64_C(1) << 31) + 5, (UINT64_C(1) << 31) + (2 << 20));
}

static void check_stage_speed_other(struct lab_test *t)
{
    lab_node(t, "pcie-4090-2");
    const struct speed_out *out = speeds(t, 0, 1, 32 * MIB, MIB, WAY_HOPS | WAY_STAGE);
    double hop = out->down > out->up ? out->down : out->up;
    lab_expect(t, LAB_MOST(t, out->stage, 1.2 * hop),
               "32 MiB through the stage took %.2f ms; the slower hop alone takes %.2f ms",
               out->stage, hop);
}

static void check_p2p_on(struct lab_test *t, const char *node, int dst, int src, int path)
{
    const uint64_t sizes[] = {40001, 1, 0, 65539};
    struct moves_in in = {.move = MOVE_P2P, .asked = 4, .dst_dev = dst, .src_dev = src};
    in.streams = 1;
    in.chunk = 20000;
    in.current = dst;
    memcpy(in.size, sizes, sizeof sizes);
    lab_node(t, node);
    const struct lab_witness *w = lab_witness(check_moves(t, &in, "p2p_copy", path));
    uint64_t straight = path == PATH_PEER ? total_bytes(&in) : 0;
    lab_expect(t, w->copied[src][dst] == straight,
               "*taken says %s; %llu bytes went straight from GPU %d to GPU %d, expected %llu",
               path_text(path), (unsigned long long)w->copied[src][dst], src, dst,
               (unsigned long long)straight);
}

static void check_p2p_shapes(struct lab_test *t)
{
    check_p2p_on(t, "oneway-2", 1, 0, PATH_PEER);
    check_p2p_on(t, "oneway-2", 0, 1, PATH_STAGED);
    check_p2p_on(t, "pcie-dual-socket-4", 3, 0, PATH_STAGED);
    check_p2p_on(t, "pcie-dual-socket-4", 3, 2, PATH_PEER);
    check_p2p_on(t, "dgx-a100", 7, 4, PATH_PEER);
}

static void check_measure_staged(struct lab_test *t)
{
    lab_node(t, "pcie-4090-2");
    struct bw bw = one_measure(t, 1, 0, 4 * MIB, 0);
    check_bw(t, &bw, 4 * MIB, PATH_STAGED);
    lab_expect(t, LAB_LEAST(t, bw.gbs, 15) && LAB_MOST(t, bw.gbs, 25.5),
               "4 MiB through the host at %.1f GB/s; both hops at once come near 25", bw.gbs);
    lab_node(t, "none");
    struct measure_in in = {.bytes = {4096}};
    refuse_measure(t, in, "p2p_measure without any GPU", LAB_ENOGPU);
}

/* Peer access that somebody else had turned on is still on afterwards. */
static void check_measure_keeps_peer(struct lab_test *t)
{
    struct measure_in in = {.asked = 1, .from = {2}, .to = {1}, .bytes = {3 * MIB + 1}};
    in.peer_before = 1;
    struct lab_run *run = lab_run(t, "measure", &in, sizeof in, sizeof(struct measure_out));
    const struct measure_out *out = lab_output(run);
    expect_rc(t, "p2p_measure", out->rc[0], LAB_OK);
    expect_measure_told(t, run, &out->bw[0], 2, 1, 3 * MIB + 1);
    lab_expect(t, out->peer_after,
               "peer access was on before p2p_measure and off after it: turn off only what you "
               "turned on");
    lab_nothing_leaked(t, run);
}

static void check_matrix_shapes(struct lab_test *t)
{
    lab_node(t, "pcie-dual-socket-4");
    check_matrix_of(t, 4, 2 * MIB, 1.01);
    lab_node(t, "single");
    check_matrix_of(t, 1, 4099, 1.01);
    lab_node(t, "none");
    struct matrix_in in = {.n = 1, .bytes = MIB};
    refuse_matrix(t, in, "p2p_matrix without any GPU", LAB_ENOGPU);
    lab_node(t, "none");
    in.n = 0;
    refuse_matrix(t, in, "p2p_matrix of 0 GPUs", LAB_OK);
}

static void add_point(struct half_in *in, uint64_t bytes, double microseconds)
{
    double seconds = microseconds * 1e-6;
    in->curve[in->points++] = (struct bw){bytes, seconds, (double)bytes / seconds / 1e9, PATH_PEER};
}

/* The best rate is not always the last one, and real curves are no lines. */
static void check_half_peak(struct lab_test *t)
{
    struct half_in in = {0};
    add_point(&in, 1000, 10);     /* 0.1 GB/s */
    add_point(&in, 100000, 109);  /* 0.917; the line: 9 us and 1 ns a byte */
    add_point(&in, 1000000, 500); /* 2 GB/s, the best */
    add_point(&in, 4000000, 4000);
    /* 1 GB/s on the line from (100000, 109) to (1000000, 500) */
    double slope = (500 - 109) / 900000.0, zero = 109 - 100000 * slope;
    check_half_of(t, &in, zero * 1000 / (1 - slope * 1000), 1e-6);
    in = (struct half_in){0}; /* copies of an H200 as recorded */
    add_point(&in, 16384, 2.16);
    add_point(&in, 262144, 2.72);
    add_point(&in, 1048576, 5.25);
    add_point(&in, 16777216, 46.57);
    add_point(&in, 268435456, 679.14);
    check_half_of(t, &in, 1018460, 1e-3);
}

LAB_CASES = {
    {.name = "path_many",
     .todo = 1,
     .title = "copy_path on 8 GPUs and on 1",
     .points = 1,
     .needs_witness = true,
     .check = check_path_many},
    {.name = "peer_copy_other",
     .todo = 2,
     .title = "copy_peer_async between other GPUs, from two streams, with and without peer access",
     .points = 2,
     .needs_witness = true,
     .check = check_peer_copy_other},
    {.name = "stage_copy_other",
     .todo = 4,
     .title = "stage_copy_async with tiny and huge chunks, from two streams, inside one GPU",
     .points = 2,
     .needs_witness = true,
     .check = check_stage_copy_other},
    {.name = "stage_copy_huge",
     .todo = 4,
     .title = "stage_copy_async of more than 2 GiB",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_stage_copy_huge},
    {.name = "stage_speed_other",
     .todo = 4,
     .title = "both hops at work on a machine with slower links",
     .points = 2,
     .needs_witness = true,
     .one_order = true,
     .check = check_stage_speed_other},
    {.name = "p2p_shapes",
     .todo = 5,
     .title = "p2p_copy where peer access goes one way only, or ends at the socket",
     .points = 2,
     .needs_witness = true,
     .check = check_p2p_shapes},
    {.name = "measure_staged",
     .todo = 6,
     .title = "p2p_measure through the host, and without any GPU",
     .points = 1,
     .needs_witness = true,
     .check = check_measure_staged},
    {.name = "measure_keeps_peer",
     .todo = 6,
     .title = "p2p_measure leaves others' peer access alone",
     .points = 1,
     .min_gpus = 3,
     .check = check_measure_keeps_peer},
    {.name = "matrix_shapes",
     .todo = 7,
     .title = "p2p_matrix over sockets, on one GPU and on none",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_matrix_shapes},
    {.name = "half_peak",
     .todo = 8,
     .title = "p2p_half of curves that fall again, and of a recorded one",
     .points = 1,
     .check = check_half_peak},
    {0},
};
