/* SPDX-License-Identifier: MIT
 * public_copies.h: lab 03's public checks of TODO 1 to 5: which way, and did everything arrive.
 */
#ifndef LAB03_PUBLIC_COPIES_H
#define LAB03_PUBLIC_COPIES_H

#include "errors.h"

/* ---- TODO 1 ---- */

static void check_path(struct lab_test *t)
{
    if (!lab_is_virtual(t)) {
        check_paths(t, 1, "L");
        return;
    }
    check_paths(t, 4,
                "LPPP"
                "PLPP"
                "PPLP"
                "PPPL");
    lab_node(t, "pcie-4090-2"); /* the usual machine alone could be known by heart */
    check_paths(t, 2,
                "LS"
                "SL");
}

static void check_path_shapes(struct lab_test *t)
{
    lab_node(t, "pcie-4090-2");
    check_paths(t, 2,
                "LS"
                "SL");
    lab_node(t, "pcie-dual-socket-4");
    check_paths(t, 4,
                "LPSS"
                "PLSS"
                "SSLP"
                "SSPL");
    lab_node(t, "oneway-2");
    check_paths(t, 2,
                "LP"
                "SL");
}

static void refuse_path(struct lab_test *t, const struct path_in *in, int want)
{
    const struct path_out *out = ASK(t, "path", in, path_out);
    for (int i = 0; i < in->asked; i++) {
        char call[64];
        snprintf(call, sizeof call, "copy_path(%d, %d, %s)", in->dst[i], in->src[i],
                 in->null ? "NULL" : "&path");
        expect_rc(t, call, out->rc[i], want);
        expect_clear(t, call, out->last[i]);
        lab_expect(t, out->path[i] == IO_FILL_INT, "%s failed and wrote *path all the same", call);
    }
}

static void check_path_bad(struct lab_test *t)
{
    int n = lab_gpus(t);
    struct path_in in = {.asked = 4, .dst = {n, 0, -1, 99}, .src = {0, n, 0, 99}};
    refuse_path(t, &in, LAB_ENOGPU);
    in = (struct path_in){.asked = 1, .null = 1};
    refuse_path(t, &in, LAB_EINVAL);
    lab_node(t, "none");
    in = (struct path_in){.asked = 1};
    if (lab_is_virtual(t))
        refuse_path(t, &in, LAB_ENOGPU);
}

/* How often the host could find out that work was complete: by a wait, a query or a host function
 * in a stream. The adapter does so twice for each copy, and otherwise equally often in all runs;
 * any more come from the copies. The program could replace the answer of its own cudaStreamQuery;
 * this counts the requests that the node received. */
static unsigned waits_of(struct lab_test *t, enum move move, const char *call, int copies,
                         uint64_t bytes)
{
    struct moves_in in = {.move = (int)move, .asked = copies, .dst_dev = 1, .chunk = 32 * KIB};
    in.streams = 1;
    in.ahead = 1;
    for (int i = 0; i < copies; i++)
        in.size[i] = bytes;
    struct lab_run *run = check_moves(t, &in, call, 0);
    if (bytes > in.chunk)
        expect_no_wait(t, run, call);
    return lab_witness(run)->completion_checks - 2 * (unsigned)copies;
}

/* ---- TODO 2 ---- */

static void check_peer_copy(struct lab_test *t)
{
    struct moves_in in = {.move = MOVE_PEER, .asked = 7, .dst_dev = other_gpu(t), .streams = 1};
    in.ahead = 1;
    const uint64_t sizes[] = {0, 1, 3, 4096, 65537, 1000003, 1 * MIB};
    in.current = lab_gpus(t) - 1;
    memcpy(in.size, sizes, sizeof sizes);
    struct lab_run *run = check_moves(t, &in, "copy_peer_async", 0);
    expect_no_wait(t, run, "copy_peer_async");
    if (!lab_is_virtual(t))
        return; /* nobody counts there */
    unsigned few = waits_of(t, MOVE_PEER, "copy_peer_async", 1, 4096);
    unsigned many = waits_of(t, MOVE_PEER, "copy_peer_async", 5, 4096);
    lab_expect_no_wait(
        t, few == many,
        "1 copy made the host wait %u times and 5 copies %u times, expected the same number: "
        "copy_peer_async queues its "
        "copy and returns",
        few, many);
}

static void check_peer_copy_bad(struct lab_test *t)
{
    static const int want[REFUSALS] = {LAB_EINVAL, LAB_EINVAL, LAB_EINVAL, LAB_EINVAL,
                                       LAB_EINVAL, LAB_ENOGPU, LAB_ENOGPU, LAB_OK};
    check_refusals(t, NULL, MOVE_PEER, want);
    refuse_sizes(t, MOVE_PEER);
    struct lone_in in = lone_copy(MOVE_PEER, 1, 0);
    if (lab_is_virtual(t))
        refuse_calls(t, &in, "cudaMemcpyPeerAsync", LAB_ECUDA);
}

/* ---- TODO 3 ---- */

static void check_stage_create_of(struct lab_test *t, int dst, int src)
{
    static const char *const names[] = {"down",      "up",         "begin",     "filled[0]",
                                        "filled[1]", "drained[0]", "drained[1]"};
    struct stage_in in = {.dst_dev = dst, .src_dev = src, .chunk = 128 * KIB, .times = 2};
    in.current = lab_gpus(t) - 1;
    in.busy = lab_is_virtual(t); /* real GPUs may wait for it when memory is pinned */
    struct lab_run *run = lab_run(t, "stage", &in, sizeof in, sizeof(struct stage_out));
    const struct stage_out *out = lab_output(run);
    expect_rc(t, "stage_create", out->create, LAB_OK);
    expect_current(t, "stage_create", out->current, in.current);
    lab_expect(t, out->numbers,
               "dst_dev, src_dev or chunk_bytes of the stage are not those asked for");
    lab_expect(t, out->apart,
               "host[0] and host[1] are the same memory, expected two buffers: one is filled while "
               "the other is emptied");
    lab_expect(t, !out->timed,
               "an event of the stage takes the time: cudaEventDisableTiming leaves timing out, "
               "and waiting for the event costs less");
    for (int i = 0; i < 2; i++) {
        lab_expect(t, out->pinned[i],
                   "stage.host[%d] is not pinned: copies to pageable memory are slow and not "
                   "asynchronous; use cudaHostAlloc",
                   i);
        lab_expect(t, out->non_blocking[i],
                   "stage.%s is a blocking stream: every piece of work in a default stream would "
                   "stop it; use cudaStreamNonBlocking",
                   names[i]);
    }
    for (int i = 0; i < 7; i++)
        lab_expect(t, out->of_its_gpu[i] == 0,
                   "stage.%s is not of GPU %d (recording gave error %d): streams and events belong "
                   "to the device that is current when they are made",
                   names[i], i == OF_UP || i >= OF_DRAINED ? in.dst_dev : in.src_dev,
                   out->of_its_gpu[i]);
    lab_expect(t, !out->waits,
               "drained[i] of a new stage waits for work in GPU %d's default stream: record it in "
               "the stage's own stream, or not at all",
               in.dst_dev);
    expect_rc(t, "stage_destroy", out->destroy, LAB_OK);
    lab_expect(t, out->cleared, "stage_destroy did not set *stage to zero");
    expect_rc(t, "stage_destroy of a stage that is all zero", out->again, LAB_OK);
    expect_current(t, "stage_destroy", out->destroy_current, in.current);
    expect_clear(t, "stage_destroy", out->destroy_last);
    lab_nothing_leaked(t, run);
}

static void check_stage_create(struct lab_test *t)
{
    check_stage_create_of(t, other_gpu(t), 0);
    check_stage_create_of(t, 0, other_gpu(t));
}

static void refuse_stage(struct lab_test *t, struct stage_in in, const char *call, int want)
{
    in.times = 1;
    struct lab_run *run = lab_run(t, "stage", &in, sizeof in, sizeof(struct stage_out));
    const struct stage_out *out = lab_output(run);
    expect_rc(t, call, out->create, want);
    expect_clear(t, call, out->last);
    lab_expect(t, out->untouched, "%s failed and wrote into *stage all the same", call);
    if (in.current >= 0)
        expect_current(t, call, out->current, in.current);
    if (in.null)
        expect_rc(t, "stage_destroy(NULL)", out->destroy, LAB_EINVAL);
    lab_refused_leaked_nothing(t, run);
}

static void check_stage_create_bad(struct lab_test *t)
{
    int n = lab_gpus(t), current = n - 1;
    struct stage_in in = {.dst_dev = 0, .src_dev = 0, .current = current, .chunk = 0};
    refuse_stage(t, in, "stage_create with chunk_bytes = 0", LAB_EINVAL);
    in.chunk = 4096;
    in.dst_dev = n;
    refuse_stage(t, in, "stage_create to a GPU that is not there", LAB_ENOGPU);
    in.dst_dev = 0;
    in.src_dev = -1;
    refuse_stage(t, in, "stage_create from GPU -1", LAB_ENOGPU);
    in.src_dev = 0;
    in.chunk = (uint64_t)1 << 46;
    refuse_stage(t, in, "stage_create with buffers of 64 TiB", LAB_ENOMEM);
    in.null = 1;
    refuse_stage(t, in, "stage_create(NULL, ...)", LAB_EINVAL);
    in.null = 0;
    in.chunk = 4096;
    if (!lab_is_virtual(t))
        return; /* real GPUs fail when they like */
    lab_fault(t, "alloc:2");
    refuse_stage(t, in,
                 "stage_create whose second allocation fails (host[0] and host[1] are one each: "
                 "stage_destroy gives each to cudaFreeHost)",
                 LAB_ENOMEM);
    check_stage_create_errors(t, 1, 0);
}

/* ---- TODO 4 ---- */

static void check_stage_copy(struct lab_test *t)
{
    const uint64_t c = 16 * KIB;
    const uint64_t sizes[] = {2 * c, 0, 1, 3, c - 1, c, c + 1, 2 * c + 1, 3 * c, 5 * c + 13, 7 * c};
    struct moves_in in = {.move = MOVE_STAGE, .asked = 11, .dst_dev = other_gpu(t), .chunk = c};
    in.streams = 1;
    in.current = lab_gpus(t) - 1;
    memcpy(in.size, sizes, sizeof sizes);
    check_moves(t, &in, "stage_copy_async", 0);
    in.streams = 2; /* nothing but the stage's own events keeps these apart */
    in.asked = 8;
    check_moves(t, &in, "stage_copy_async from two streams", 0);
    in.streams = 1;
    in.null_stream = 1;
    check_moves(t, &in, "stage_copy_async in the null stream, the sender's, another GPU current,",
                0);
    in.src_dev = in.dst_dev; /* back */
    in.dst_dev = in.current = 0;
    check_moves(t, &in, "stage_copy_async in the null stream of another GPU than 0", 0);
}

static void check_stage_copy_bad(struct lab_test *t)
{
    static const int want[REFUSALS] = {LAB_EINVAL, LAB_EINVAL, LAB_EINVAL, LAB_EINVAL,
                                       LAB_EINVAL, LAB_EINVAL, LAB_EINVAL, LAB_OK};
    check_refusals(t, NULL, MOVE_STAGE, want);
    refuse_sizes(t, MOVE_STAGE);
    refuse_empty_stage(t);
}

static void check_stage_no_wait(struct lab_test *t)
{
    unsigned few = waits_of(t, MOVE_STAGE, "stage_copy_async", 1, 32 * KIB);
    unsigned many = waits_of(t, MOVE_STAGE, "stage_copy_async", 2, 5 * 32 * KIB);
    lab_expect_no_wait(
        t, few == many,
        "1 copy of 1 chunk made the host wait %u times and 2 copies of 5 chunks %u "
        "times, expected the same number: order the chunks by events, not by waiting for them",
        few, many);
}

static void check_stage_speed(struct lab_test *t)
{
    /* So many that the waits for events are short beside them, if both hops share a link, too. */
    const uint64_t bytes = 160 * MIB;
    const struct speed_out *small =
        speeds(t, other_gpu(t), 0, 8 * MIB, MIB, WAY_SERIAL | WAY_PAGEABLE);
    lab_expect(t, LAB_MOST(t, small->serial, small->serial_pageable),
               "8 MiB there and back through pinned memory take %.2f ms, through pageable memory "
               "%.2f ms: pinned should be faster",
               small->serial, small->serial_pageable);
    const struct speed_out *out =
        speeds(t, other_gpu(t), 0, bytes, bytes / 20, WAY_HOPS | WAY_STAGE);
    double hop = out->down > out->up ? out->down : out->up;
    lab_expect(t, LAB_MOST(t, out->stage, 1.2 * hop),
               "%llu MiB through the stage took %.2f ms; the slower hop alone takes %.2f ms, "
               "allowed is 1.2 times that (one hop after the other would be %.2f ms). Both hops "
               "must be at work at the same time",
               (unsigned long long)(bytes / MIB), out->stage, hop, out->down + out->up);
}

/* The source's example: 1 GB = 1e9 bytes, as 16 copies of the same 62.5 MB, because the computer
 * that runs the test need not have the memory. */
static void check_example_a(struct lab_test *t)
{
    lab_node(t, "textbook-a100-2");
    int ways = WAY_SERIAL | WAY_STAGE;
    const struct speed_out *out = speeds_of(t, 1, 0, 62500000, 1000000, ways, 16);
    LAB_CLOSE(t, "1 GB through the host, one hop after the other, ms", out->serial, 62.5, 0.5);
    lab_expect(t, LAB_MOST(t, out->stage, 36),
               "1 GB through the stage takes %.1f ms, at most 36 are allowed: two hops of 31.25 ms "
               "at the same time",
               out->stage);
}

/* ---- TODO 5 ---- */

static struct moves_in p2p_moves(int dst, int src)
{
    const uint64_t sizes[] = {1, 777, 64 * KIB + 1, 300007};
    struct moves_in in = {.move = MOVE_P2P, .asked = 4, .dst_dev = dst, .src_dev = src};
    in.current = src;
    in.streams = 1;
    in.chunk = 64 * KIB;
    memcpy(in.size, sizes, sizeof sizes);
    return in;
}

static void check_p2p_peer(struct lab_test *t)
{
    struct moves_in in = p2p_moves(1, 3);
    struct lab_run *run = check_moves(t, &in, "p2p_copy", PATH_PEER);
    const struct lab_witness *w = lab_witness(run);
    lab_expect(
        t, w->copied[3][1] == total_bytes(&in) && w->copied[3][LAB_HOST] == 0,
        "*taken says PATH_PEER; of %llu bytes, %llu went from GPU 3 to GPU 1 and %llu to the "
        "host",
        (unsigned long long)total_bytes(&in), (unsigned long long)w->copied[3][1],
        (unsigned long long)w->copied[3][LAB_HOST]);
    lab_expect(t, w->peers_enabled == 1,
               "p2p_copy turned peer access on %u times for %d copies, expected once: it stays on "
               "for the copies to come, and the caller turns it off",
               w->peers_enabled, in.asked);
    const struct speed_out *out = speeds(t, 1, 3, 16 * MIB, MIB, WAY_DRIVER | WAY_P2P);
    lab_expect(t, LAB_MOST(t, out->p2p, out->driver / 4),
               "*taken says PATH_PEER, but 16 MiB took %.3f ms; without peer access they take %.3f "
               "ms: the driver went through the host without reporting it (was peer_on missing?)",
               out->p2p, out->driver);
}

static void check_p2p_staged(struct lab_test *t)
{
    lab_node(t, "pcie-4090-2");
    struct moves_in in = p2p_moves(0, 1);
    struct lab_run *run = check_moves(t, &in, "p2p_copy", PATH_STAGED);
    const struct lab_witness *w = lab_witness(run);
    lab_expect(t, w->copied[1][LAB_HOST] == total_bytes(&in) && w->copied[1][0] == 0,
               "*taken says PATH_STAGED; of %llu bytes, %llu went from GPU 1 to the host and %llu "
               "to GPU 0 by the driver's own way",
               (unsigned long long)total_bytes(&in), (unsigned long long)w->copied[1][LAB_HOST],
               (unsigned long long)w->copied[1][0]);
    in.no_stage = 1;
    in.asked = 1;
    lab_node(t, "pcie-4090-2");
    unsigned char *pattern;
    const struct moves_out *out = lab_output(run_moves(t, &in, &pattern));
    free(pattern);
    expect_rc(t, "p2p_copy without peer access and without a stage", out->rc[0], LAB_ENOPEER);
    lab_expect(t, out->taken[0] == IO_FILL_INT, "p2p_copy failed and wrote *taken all the same");
}

static void check_p2p_local(struct lab_test *t)
{
    lab_node(t, "single");
    struct moves_in in = p2p_moves(0, 0);
    in.no_stage = 1; /* it must not be needed */
    check_moves(t, &in, "p2p_copy", PATH_LOCAL);
}

static void check_p2p_bad(struct lab_test *t)
{
    static const int want[REFUSALS] = {LAB_EINVAL, LAB_EINVAL, LAB_EINVAL, LAB_EINVAL,
                                       LAB_EINVAL, LAB_ENOGPU, LAB_ENOGPU, LAB_EINVAL};
    refuse_sizes(t, MOVE_P2P);
    check_refusals(t, "hgx-h200-4", MOVE_P2P, want);
    check_refusals(t, "pcie-4090-2", MOVE_P2P, want);
}

#endif
