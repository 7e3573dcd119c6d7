/* SPDX-License-Identifier: MIT
 * errors.h: what lab 03's cases ask of error paths: each CUDA call fails once, as the node was
 * told; sizes that no buffer has, so that no program can copy them; copies of no byte.
 */
#ifndef LAB03_ERRORS_H
#define LAB03_ERRORS_H

#include "rates.h"

static const char *const lone_names[] = {"copy_peer_async", "stage_copy_async", "p2p_copy"};

/* Three chunks: the last one uses the first one's buffer again. */
static inline struct lone_in lone_copy(int move, int dst, int src)
{
    return (struct lone_in){.move = move,
                            .dst_dev = dst,
                            .src_dev = src,
                            .bytes = 12 * KIB,
                            .chunk = 4 * KIB,
                            .claimed = 12 * KIB};
}

static inline const struct lone_out *ask_lone(struct lab_test *t, const struct lone_in *in,
                                              const char *call)
{
    struct lab_run *run = lab_run(t, "lone", in, sizeof *in, sizeof(struct lone_out));
    const struct lone_out *out = lab_output(run);
    if (out->setup)
        return out;
    expect_clear(t, call, out->last);
    expect_current(t, call, out->current, in->src_dev);
    if (in->move == MOVE_P2P && out->rc)
        lab_expect(t, out->taken == IO_FILL_INT, "%s failed and wrote *taken", call);
    lab_refused_leaked_nothing(t, run);
    return out;
}

/* The first, the second, ... call of this name fails: its error comes back, or nothing was lost. */
static inline void refuse_calls(struct lab_test *t, const struct lone_in *in, const char *name,
                                int want)
{
    int rc = want;
    for (int nth = 1; rc == want && nth <= 32; nth++) {
        char fault[60], call[120];
        snprintf(fault, sizeof fault, "call:%s=%d", name, nth);
        snprintf(call, sizeof call, "%s whose %s number %d fails%s", lone_names[in->move], name,
                 nth, nth > 1 ? ", if it makes as many," : "");
        lab_fault(t, fault);
        const struct lone_out *out = ask_lone(t, in, call);
        if (out->setup)
            continue; /* one of stage_create's */
        rc = out->rc;
        lab_expect(t, rc == want || rc == LAB_OK, "%s returned %d (%s), expected %d (%s)", call, rc,
                   rc_name(rc), want, rc_name(want));
        lab_expect_data(t, rc || out->wrong == 0,
                        "%s returned LAB_OK, expected %s: %d bytes of dst are not those of src",
                        call, rc_name(want), out->wrong);
        lab_expect(t, rc || out->taken != PATH_PEER || out->peer_left,
                   "%s returned LAB_OK and PATH_PEER; peer access from GPU %d to GPU %d is off",
                   call, in->src_dev, in->dst_dev);
    }
    lab_fault(t, NULL);
}

/* 4 GiB and some in buffers of a few KiB: no CUDA call takes that, but one may take what 32 bits
 * have left of it. */
static inline void refuse_large(struct lab_test *t, int move, int dst, int src)
{
    struct lone_in in = lone_copy(move, dst, src);
    if (!lab_is_virtual(t))
        return; /* what real GPUs answer has not been recorded */
    in.claimed_chunk = UINT64_C(1) << 33;
    for (int more = 0; more <= 8; more += 8) {
        char call[120];
        in.claimed = (UINT64_C(1) << 32) + (uint64_t)more;
        snprintf(call, sizeof call, "%s of 2^32 + %d bytes in 12 KiB", lone_names[move], more);
        const struct lone_out *out = ask_lone(t, &in, call);
        lab_expect(t, out->setup == 0, "the copy could not be set up");
        lab_expect_grave(
            t, out->rc ? LAB_NOT_GRAVE : LAB_LOST_DATA, out->rc == LAB_ECUDA,
            "%s returned %d (%s), expected %d (LAB_ECUDA): did the size go through 32 bits?", call,
            out->rc, rc_name(out->rc), LAB_ECUDA);
    }
}

static inline void copy_nothing(struct lab_test *t, int move, int dst, int src)
{
    struct lone_in in = lone_copy(move, dst, src);
    char call[80];
    in.claimed = 0;
    in.how = LONE_NO_POINTERS;
    snprintf(call, sizeof call, "%s of 0 bytes, without pointers,", lone_names[move]);
    const struct lone_out *out = ask_lone(t, &in, call);
    lab_expect(t, out->setup == 0, "the copy could not be set up");
    expect_rc(t, call, out->rc, LAB_OK);
}

/* ---- TODO 2 to 5 ---- */

/* What the cases of refusals ask besides wrong pointers. */
static inline void refuse_sizes(struct lab_test *t, int move)
{
    copy_nothing(t, move, 1, 0);
    refuse_large(t, move, 1, 0);
}

/* Each of what a stage is made of cannot be made. */
static inline void check_stage_create_errors(struct lab_test *t, int dst, int src)
{
    static const char *const names[] = {"cudaStreamCreateWithFlags", "cudaEventCreateWithFlags",
                                        "cudaHostAlloc"};
    struct stage_in in = {.dst_dev = dst, .src_dev = src, .current = 0, .chunk = 4096, .times = 1};
    for (int i = 0; i < 3; i++) {
        int create = LAB_ECUDA;
        for (int nth = 1; create == LAB_ECUDA && nth <= 16; nth++) {
            char fault[60], call[120];
            snprintf(fault, sizeof fault, "call:%s=%d", names[i], nth);
            snprintf(call, sizeof call, "stage_create whose %s number %d fails", names[i], nth);
            lab_fault(t, fault);
            struct lab_run *run = lab_run(t, "stage", &in, sizeof in, sizeof(struct stage_out));
            const struct stage_out *out = lab_output(run);
            create = out->create;
            lab_expect(t, create == LAB_ECUDA || (create == LAB_OK && out->complete),
                       "%s returned %d (%s)%s, expected %d (LAB_ECUDA)", call, create,
                       rc_name(create), create ? "" : " with a stage that lacks something",
                       LAB_ECUDA);
            if (create == LAB_OK)
                continue;
            expect_clear(t, call, out->last);
            expect_current(t, call, out->current, in.current);
            lab_expect(t, out->untouched, "%s failed and wrote into *stage all the same", call);
            lab_nothing_leaked(t, run);
        }
    }
    lab_fault(t, NULL);
}

static inline void refuse_empty_stage(struct lab_test *t)
{
    struct lone_in in = lone_copy(MOVE_STAGE, 0, 0);
    const char *call = "stage_copy_async with a stage that is all zero, inside GPU 0,";
    in.stage_is_zero = 1;
    expect_rc(t, call, ask_lone(t, &in, call)->rc, LAB_EINVAL);
}

static inline void check_stage_copy_errors(struct lab_test *t)
{
    struct lone_in in = lone_copy(MOVE_STAGE, 1, 0);
    refuse_calls(t, &in, "cudaMemcpyAsync", LAB_ECUDA);
    refuse_calls(t, &in, "cudaEventRecord", LAB_ECUDA);
    lab_node(t, "pcie-4090-2");
    refuse_calls(t, &in, "cudaStreamWaitEvent", LAB_ECUDA);
}

/* A stage of other GPUs, where it is needed: no pointer tells, for there is nothing to copy. */
static inline void refuse_other_stages(struct lab_test *t)
{
    struct lone_in in = lone_copy(MOVE_P2P, 1, 0);
    in.claimed = 0;
    for (in.how = LONE_OTHER_DST; in.how <= LONE_OTHER_SRC; in.how++) {
        const char *call = in.how == LONE_OTHER_DST ? "p2p_copy with a stage to another GPU"
                                                    : "p2p_copy with a stage from another GPU";
        expect_rc(t, call, ask_lone(t, &in, call)->rc, LAB_EINVAL);
    }
}

/* A caller that has turned peer access off may send again: it is turned on again. */
static inline void check_p2p_again(struct lab_test *t)
{
    const char *call = "p2p_copy, when the caller has turned peer access off after an earlier one,";
    struct lone_in in = lone_copy(MOVE_P2P, 1, 0);
    in.again = 1;
    const struct lone_out *out = ask_lone(t, &in, "p2p_copy");
    lab_expect(t, out->setup == 0, "the copy could not be set up");
    expect_rc(t, "p2p_copy", out->rc, LAB_OK);
    expect_rc(t, call, out->again_rc, LAB_OK);
    lab_expect(t, out->again_taken == PATH_PEER, "%s took %s, expected %s", call,
               path_text(out->again_taken), path_text(PATH_PEER));
    lab_expect(t, out->again_left,
               "%s reported PATH_PEER and did not turn it on again: peer access from GPU %d to GPU "
               "%d is off, and the driver goes through the host",
               call, in.src_dev, in.dst_dev);
}

static inline void check_p2p_errors(struct lab_test *t)
{
    struct lone_in in = lone_copy(MOVE_P2P, 1, 0);
    check_p2p_again(t);
    refuse_calls(t, &in, "cudaMemcpyPeerAsync", LAB_ECUDA);
    refuse_calls(t, &in, "cudaDeviceEnablePeerAccess", LAB_ENOPEER);
    lab_node(t, "pcie-4090-2");
    refuse_calls(t, &in, "cudaMemcpyAsync", LAB_ECUDA);
    refuse_sizes(t, MOVE_P2P);
    refuse_other_stages(t);
}

/* ---- TODO 6 and 7 ---- */

/* One of the calls that a measurement must make fails. */
static inline void refuse_measures(struct lab_test *t, const char *node, int both, const char *call)
{
    struct measure_in in = {.from = {0}, .to = {1}, .both = {both}, .bytes = {64 * KIB}};
    char fault[60], text[120];
    snprintf(fault, sizeof fault, "call:%s", call);
    snprintf(text, sizeof text, "p2p_measure %s in which a call fails (VGPU_FAULT=%s)",
             both ? "both ways" : "one way", fault);
    lab_node(t, node);
    lab_fault(t, fault);
    refuse_measure(t, in, text, LAB_ECUDA);
}

/* One of so many allocations fails, of the first lane or of the second. */
static inline void refuse_lanes(struct lab_test *t, const char *node, int allocations)
{
    for (int nth = 1; nth <= allocations; nth++) {
        struct measure_in in = {.from = {0}, .to = {1}, .both = {1}, .bytes = {64 * KIB}};
        char fault[32], call[80];
        snprintf(fault, sizeof fault, "alloc:%d", nth);
        snprintf(call, sizeof call, "p2p_measure both ways, whose allocation %d fails,", nth);
        lab_node(t, node);
        lab_fault(t, fault);
        refuse_measure(t, in, call, LAB_ENOMEM);
    }
}

static inline void check_measure_errors(struct lab_test *t)
{
    static const char *const peer = "hgx-h200-4", *const staged = "pcie-4090-2";
    refuse_measures(t, peer, 0, "cudaMemcpyPeerAsync=1"); /* the warm-up */
    refuse_measures(t, peer, 0, "cudaMemcpyPeerAsync=2"); /* the repetitions */
    refuse_measures(t, peer, 0, "cudaMemcpyPeerAsync=3");
    refuse_measures(t, peer, 1, "cudaMemcpyPeerAsync=1");
    refuse_measures(t, peer, 1, "cudaMemcpyPeerAsync=5");
    refuse_measures(t, staged, 0, "cudaMemcpyAsync=1");
    refuse_measures(t, staged, 0, "cudaMemcpyAsync=12");
    refuse_measures(t, peer, 0, "cudaEventRecord=1"); /* where the clock starts, or stops */
    refuse_measures(t, peer, 0, "cudaEventRecord=2");
    refuse_measures(t, peer, 0, "cudaEventElapsedTime=1");
    refuse_lanes(t, peer, 4);
    refuse_lanes(t, staged, 8);
    lab_fault(t, NULL);
}

/* 3 GiB that are lost on the way: that costs no time but the node's. */
static inline void check_measure_large(struct lab_test *t)
{
    const uint64_t bytes = 3 * KIB * MIB + 1;
    lab_node(t, "hgx-h200-4");
    lab_fault(t, "peer-drop:2-3,peer-drop:3-2");
    for (int both = 0; both < 2; both++) {
        struct bw bw = one_measure(t, 2, 3, bytes, both);
        check_bw(t, &bw, bytes * (uint64_t)(1 + both), PATH_PEER);
    }
    lab_fault(t, NULL);
}

/* The host has no memory for the matrix, for who asks for some. */
static inline void refuse_memory(struct lab_test *t)
{
    struct matrix_in in = {.n = 2, .bytes = 64 * KIB, .no_memory = 1};
    const struct matrix_out *out = ASK(t, "matrix", &in, matrix_out);
    if (out->refused)
        refuse_matrix(t, in, "p2p_matrix whose malloc returns NULL", LAB_ENOMEM);
}

static inline void check_matrix_errors(struct lab_test *t)
{
    struct matrix_in in = {.n = 2, .bytes = 64 * KIB};
    for (int pair = 0; pair < 3; pair += 2) {
        char fault[60];
        snprintf(fault, sizeof fault, "call:cudaMemcpyPeerAsync=%d", 1 + pair * (1 + P2P_REPEATS));
        lab_fault(t, fault);
        refuse_matrix(t, in, "p2p_matrix in which a copy fails", LAB_ECUDA);
    }
    lab_fault(t, NULL);
}

#endif
