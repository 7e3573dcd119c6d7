/* SPDX-License-Identifier: MIT
 * failures.h: what lab 04's functions must refuse, and what they do where a call of CUDA fails.
 */
#ifndef LAB04_FAILURES_H
#define LAB04_FAILURES_H

#include "ask.h"

/* ---- sum_shared and sum_warp ---- */

/* The launch fails: the caller learns of it. */
static inline void ask_no_launch(struct lab_test *t, int32_t which)
{
    const struct block_call call = {.which = which, .blocks = 4, .n = 1000};
    char what[200];
    say_block_call(what, sizeof what, &call);
    lab_fault(t, "call:launch=1");
    struct lab_run *run = run_blocks(t, &call, 1, 1000, WHOLE);
    strcat(what, ", where CUDA cannot launch its kernel,");
    expect_call(t, &((const struct block_out *)lab_output(run))->call, LAB_ECUDA, 0, what);
    lab_fault(t, NULL);
}

/* 2^32 + 5 elements, of which 5 are there: their kernel ends in a fault. A size that went through
 * an int is 5, and all is well. */
static inline void ask_far_elements(struct lab_test *t, int32_t which)
{
    const struct block_call call = {.which = which, .blocks = 1, .n = 5, .claimed = 1ull << 32};
    struct lab_run *run = run_blocks(t, &call, 1, 5, WHOLE);
    const struct block_out *out = lab_output(run);
    lab_expect_data(
        t, out->call.rc != LAB_OK || out->after != 0,
        "%s of 2^32 + 5 elements read no element behind the first 5: somewhere n became an "
        "int",
        which == BY_WARP ? "sum_warp" : "sum_shared");
}

/* 2^32 elements and some more, where no memory is behind 2^32: a fault ends the kernel as soon as a
 * thread of the first block is through with its part of the 2^32. An index of 32 bits without a
 * sign begins again there, and the kernel never ends. */
static inline void ask_beyond_unsigned(struct lab_test *t, int32_t which)
{
    const struct block_call call = {.which = which,
                                    .blocks = SUM_MAX_BLOCKS,
                                    .far = 1,
                                    .n = (1ull << 32) + SUM_MAX_BLOCKS * SUM_THREADS};
    lab_env(t, "VGPU_CHECK", "api"); /* so many accesses: other cases look for races */
    const struct block_out *out = lab_output(run_blocks(t, &call, 1, 5, WHOLE));
    lab_expect_data(t, out->call.rc != LAB_OK || out->after != 0,
                    "%s of 2^32 + %d elements read none behind the first 2^32: a thread's index "
                    "must be a size_t, as n is",
                    which == BY_WARP ? "sum_warp" : "sum_shared", SUM_MAX_BLOCKS * SUM_THREADS);
}

/* ---- sum_start, sum_host, sum_peer ---- */

/* The kernels of the whole run are those that the test itself has started: one of each part. */
static inline void expect_no_kernels(struct lab_test *t, const struct lab_run *run,
                                     const struct parts_in *in)
{
    for (int i = 0; i < in->parts && lab_witness(run); i++) {
        unsigned own = in->combine != COMBINE_NOT;
        unsigned kernels = lab_kernels_within(run, NULL, in->gpu[i]).count;
        lab_expect(t, kernels == own,
                   "%s refused its arguments, and %u kernels were launched on GPU %d all the same: "
                   "check all parts first",
                   combine_name(in), kernels - own, in->gpu[i]);
    }
}

/* Calls of sum_start, sum_host or sum_peer (in->combine) that must be refused. */
static inline void ask_refused(struct lab_test *t, const struct refusal *call, size_t n)
{
    static struct refused_in question;
    const struct parts_in *in = &parts_question.in;
    static const char *const broken[] = {"", ", one on a GPU that is not there",
                                         ", one with 0 blocks", ", one without data",
                                         ", the root without a total"};
    question = (struct refused_in){.parts = *in, .calls = n};
    memcpy(question.call, call, n * sizeof *call);
    seal_parts(t, 0);
    struct lab_run *run =
        lab_run(t, "refused", &question, sizeof question, sizeof(struct refused_out));
    const struct refused_out *out = lab_output(run);
    lab_expect(t, out->opened == 0, "the GPUs' memory, streams and events could not be made");
    for (size_t k = 0; k < n; k++) {
        char what[160];
        int at =
            snprintf(what, sizeof what, "%s of %s%d parts%s", combine_name(in),
                     call[k].no_part ? "NULL for " : "", call[k].parts, broken[call[k].damage]);
        if (in->combine == COMBINE_PEER)
            at += snprintf(what + at, sizeof what - (size_t)at, ", root %d", call[k].root);
        if (call[k].no_sum)
            snprintf(what + at, sizeof what - (size_t)at, ", sum NULL");
        expect_call(t, &out->call[k], call[k].want, in->current, what);
        lab_expect(t, untouched(&out->sum[k], sizeof out->sum[k]),
                   "%s is an error, yet it wrote a sum", what);
        lab_expect(t, !out->launched[k], "%s is an error, yet it launched something", what);
    }
    expect_no_kernels(t, run, in);
    lab_refused_leaked_nothing(t, run);
}

/* sum_start, then sum_host or sum_peer, where one call of CUDA fails: what is queued is over,
 * nothing is written or left. */
static inline void ask_failure(struct lab_test *t, const char *fault, const char *which)
{
    const struct parts_in *in = &parts_question.in;
    char what[160];
    lab_fault(t, fault);
    struct lab_run *run = run_parts(t);
    const struct parts_out *out = lab_output(run);
    lab_fault(t, NULL);
    snprintf(what, sizeof what, "%s of %d parts, where %s fails,", combine_name(in), in->parts,
             which);
    expect_call(t, in->combine == COMBINE_NOT ? &out->start : &out->combine[0], LAB_ECUDA,
                in->current, what);
    for (int i = 0; i < in->parts && in->combine == COMBINE_NOT; i++)
        lab_expect(t, out->stream[i] == 0,
                   "%s came back while the kernel of part %d was still running: the caller will "
                   "free that memory",
                   what, i);
    lab_expect(t, in->combine == COMBINE_NOT || untouched(&out->sum[0], sizeof out->sum[0]),
               "%s is an error, yet it wrote a sum", what);
    lab_expect(t,
               strncmp(fault, "call:wait=", 10) != 0 ||
                   lab_kernels_within(run, NULL, in->gpu[in->root]).count == 1,
               "%s launched its kernel all the same, which does not wait for all parts then", what);
    lab_refused_leaked_nothing(t, run);
}

static inline void refuse_parts(struct lab_test *t, int32_t combine)
{
    static const uint64_t count[] = {300, 200, 100};
    static const struct refusal call[] = {
        {.parts = 3, .no_part = 1, .want = LAB_EINVAL},
        {.parts = 0, .want = LAB_EINVAL},
        {.parts = SUM_MAX_PARTS + 1, .want = LAB_EINVAL},
        {.parts = 3, .damage = DAMAGE_GPU, .damaged_part = 2, .want = LAB_ENOGPU},
        {.parts = 3, .damage = DAMAGE_BLOCKS, .damaged_part = 1, .want = LAB_EINVAL},
        {.parts = 3, .no_sum = 1, .want = LAB_EINVAL},
        {.parts = 3, .root = -1, .want = LAB_EINVAL},
        {.parts = 3, .root = 3, .want = LAB_EINVAL},
        {.parts = 3, .root = 1, .damage = DAMAGE_TOTAL, .damaged_part = 1, .want = LAB_EINVAL},
    };
    struct parts_in *in = parts_of(t, count, 3, 2, WHOLE);
    in->combine = combine;
    in->current = 1;
    in->reach = combine == COMBINE_PEER;
    ask_refused(t, call, combine == COMBINE_NOT ? 5 : combine == COMBINE_HOST ? 6 : COUNT(call));
}

/* The first part's kernel takes long: who forgets it comes back while it runs. */
static inline void fail_parts(struct lab_test *t, int32_t combine, int32_t current,
                              const char *fault, const char *which)
{
    static const uint64_t count[] = {1u << 15, 300, 200};
    struct parts_in *in = parts_of(t, count, 3, 2, WHOLE);
    in->combine = combine;
    in->current = current;
    in->look = 1;
    in->reach = combine == COMBINE_PEER;
    ask_failure(t, fault, which);
}

/* Each call of CUDA that the function makes fails once. */
static inline void fail_each_call(struct lab_test *t, int32_t combine, int32_t current)
{
    static const uint64_t count[] = {300, 200};
    struct parts_in *in = parts_of(t, count, 2, 2, WHOLE);
    in->combine = combine;
    in->current = current;
    in->reach = combine == COMBINE_PEER;
    if (!lab_is_virtual(t))
        return;
    seal_parts(t, 0);
    struct lab_run *run = lab_run(t, "calls", in, sizeof *in, sizeof(struct lab_refusals));
    lab_expect_refused(t, combine_name(in), lab_output(run), current);
    lab_refused_leaked_nothing(t, run);
}

#endif
