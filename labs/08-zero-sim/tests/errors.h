/* SPDX-License-Identifier: MIT
 * errors.h: lab 08's cases of a run in which CUDA refuses a call: because the node was told to, or
 * because more is to be copied than there is.
 */
#ifndef LAB08_ERRORS_H
#define LAB08_ERRORS_H

#include "moves.h"

/* The first, the second, ... cudaMemcpyAsync fails, as many as the function makes: either the error
 * comes back, or nothing was lost. */
static inline void check_refused_copies(struct lab_test *t, const struct move_in *in,
                                        const char *name)
{
    int rc = LAB_ECUDA, r, i;
    for (int nth = 1; rc == LAB_ECUDA && nth <= 32; nth++) {
        char fault[60], call[240], what[60];
        snprintf(fault, sizeof fault, "call:cudaMemcpyAsync=%d", nth);
        snprintf(what, sizeof what, "%s whose cudaMemcpyAsync number %d fails", name, nth);
        describe(&in->how, what, call, sizeof call);
        lab_fault(t, fault);
        const struct moved_halves *data = seal_moved(t);
        struct lab_run *run = lab_run(t, "move", in, sizeof *in, sizeof(struct move_out));
        const struct move_out *out = lab_output(run);
        rc = out->rc;
        expect_rc(t, "zero_run_start", out->started, LAB_OK);
        lab_expect(t, rc == LAB_OK || rc == LAB_ECUDA,
                   "%s returned %d (%s), expected %d (LAB_ECUDA)", call, rc, rc_name(rc),
                   LAB_ECUDA);
        lab_expect_data(
            t, rc || moved_right(in, out, moved_to(run, in), data, &r, &i),
            "%s returned LAB_OK, expected LAB_ECUDA: a copy was refused, and what it should "
            "have copied is not there",
            call);
        lab_nothing_leaked(t, run);
    }
    lab_fault(t, NULL);
}

/* A unit whose shard is 2^31 elements and more, in 4096 bytes of memory: no CUDA call copies
 * that, but it copies what 32 bits have left of the size. */
static inline void check_too_large(struct lab_test *t, int moved, int stage, int ranks)
{
    struct large_in in = {.moved = moved, .stage = stage, .ranks = ranks};
    struct lab_run *run = lab_run(t, "large", &in, sizeof in, sizeof(struct large_out));
    const struct large_out *out = lab_output(run);
    char call[120];
    snprintf(call, sizeof call,
             "%s (stage %d, %d ranks) of 2^31 + 4 elements a shard in 4096 bytes,",
             moved == MOVED_REDUCE ? "zero_reduce" : "zero_gather", stage, ranks);
    expect_rc(t, "ring_open", out->opened, LAB_OK);
    lab_expect_grave(t, out->rc ? LAB_NOT_GRAVE : LAB_LOST_DATA, out->rc == LAB_ECUDA,
                     "%s returned %d (%s), expected %d (LAB_ECUDA): %s", call, out->rc,
                     rc_name(out->rc), LAB_ECUDA,
                     ranks > 1
                         ? "did a size go through 32 bits?"
                         : "either a size went through 32 bits, or a rank that is alone copies "
                           "nothing, although its shard and the whole are two allocations");
}

/* Where the shards of such a unit begin, on two ranks. */
static inline void check_large_copies(struct lab_test *t, int moved, int stage)
{
    struct large_in in = {.moved = moved, .stage = stage, .ranks = 2, .watched = 1};
    struct lab_run *run = lab_run(t, "large", &in, sizeof in, sizeof(struct large_out));
    const struct large_out *out = lab_output(run);
    const char *call = moved == MOVED_REDUCE ? "zero_reduce" : "zero_gather";
    expect_rc(t, "ring_open", out->opened, LAB_OK);
    for (int i = 0; i < out->copies && i < LARGE_COPIES; i++) {
        int r = out->rank[i];
        lab_expect_data(
            t, out->bytes[i] == 2 * LARGE_SHARD && out->at[i] == (int64_t)(2 * LARGE_SHARD) * r,
            "%s (stage %d) of 2^31 + 4 elements a shard copies %" PRIu64 " bytes, %" PRId64
            " bytes behind the beginning of rank %d's whole, expected %" PRIu64 " bytes, %" PRIu64
            " behind it",
            call, stage, out->bytes[i], out->at[i], r, 2 * LARGE_SHARD,
            2 * LARGE_SHARD * (uint64_t)r);
    }
}

/* The cudaFree of one rank fails while another unit's allocation of the same kind is there. */
static inline void check_refused_free(struct lab_test *t, int failing)
{
    struct memory_in in = {.net = small_net,
                           .how = {.stage = 2, .ranks = 3, .align = 1},
                           .full = -1,
                           .asked = 3,
                           .op = {{ZERO_ALLOC, ZERO_GRAD, 1, 0, 1000},
                                  {ZERO_ALLOC, ZERO_GRAD, 0, 0, 1000},
                                  {ZERO_FREE, ZERO_GRAD, 0, 0, 1000}}};
    char fault[60], call[120];
    snprintf(fault, sizeof fault, "call:cudaFree=%d", failing + 1);
    snprintf(call, sizeof call, "zero_memory(end of gradients) where rank %d's cudaFree fails",
             failing);
    lab_fault(t, fault);
    struct lab_run *run = lab_run(t, "memory", &in, sizeof in, sizeof(struct memory_out));
    const struct memory_out *out = lab_output(run);
    expect_rc(t, "zero_run_open", out->opened, LAB_OK);
    for (int i = 0; i < 2; i++)
        expect_rc(t, "zero_memory(allocation of gradients)", out->rc[i], LAB_OK);
    expect_rc(t, call, out->rc[2], LAB_ECUDA);
    for (int r = 0; r < in.how.ranks; r++)
        if (r != failing)
            expect_bytes(t, call, "the ledger's run->gpu.held[rank], of what is there still,",
                         out->held[2][r], out->where[2][r] == -2 ? 1024 : 2048);
    lab_fault(t, NULL);
}

static inline void check_reduce_errors(struct lab_test *t)
{
    for (int stage = 0; stage < 3; stage++) {
        struct move_in in = {.net = small_net,
                             .how = {.stage = stage, .ranks = 2, .align = 1},
                             .moved = MOVED_REDUCE};
        lab_node(t, stage % 2 ? "hgx-h200-4" : "textbook-a100-2");
        check_refused_copies(t, &in, "zero_reduce");
    }
    for (int rank = 0; rank < 3; rank++)
        check_refused_free(t, rank);
    check_too_large(t, MOVED_REDUCE, 0, 2);
    check_too_large(t, MOVED_REDUCE, 1, 2);
    check_too_large(t, MOVED_REDUCE, 2, 1);
    check_large_copies(t, MOVED_REDUCE, 2);
}

static inline void check_gather_errors(struct lab_test *t)
{
    for (int stage = 1; stage < 4; stage += 2) {
        struct move_in in = {.net = small_net,
                             .how = {.stage = stage, .ranks = 2, .align = 1},
                             .moved = MOVED_GATHER};
        lab_node(t, stage == 1 ? "hgx-h200-4" : "textbook-a100-2");
        check_refused_copies(t, &in, "zero_gather");
        in.how.offload = 1;
        in.moved = stage == 1 ? MOVED_TO_HOST : MOVED_TO_GPU;
        check_refused_copies(t, &in, "zero_bus");
    }
    check_too_large(t, MOVED_GATHER, 3, 1);
    check_large_copies(t, MOVED_GATHER, 3);
}

#endif
