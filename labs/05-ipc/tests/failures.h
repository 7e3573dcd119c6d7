/* SPDX-License-Identifier: MIT
 * failures.h: lab 05's checks of ring_put and ring_take where something fails: the result, and that
 * nobody is told of what has not happened. Where CUDA refuses, a neighbour has gone (lone.h).
 */
#ifndef LAB05_FAILURES_H
#define LAB05_FAILURES_H

#include "common.h"

struct failure {
    enum lone_case what;
    int rc;
    int stays; /* nothing may have been copied */
    const char *call;
};

static const struct failure put_failures[] = {
    {LONE_PUT_GONE, LAB_EPEER, 1, "ring_put when the next rank has gone"},
    {LONE_PUT_NO_WAIT, LAB_EPEER, 1, "ring_put when CUDA refuses to wait for next_drained"},
    {LONE_PUT_NO_COPY, LAB_EPEER, 1, "ring_put of 4294967328 bytes out of 64"},
    {LONE_PUT_NO_RECORD, LAB_EPEER, 0, "ring_put when CUDA refuses to record FILLED"},
    {LONE_PUT_UNHEARD, LAB_EPEER, 0, "ring_put when the next rank cannot be told"},
};
static const struct failure take_failures[] = {
    {LONE_TAKE_GONE, LAB_EPEER, 1, "ring_take when the previous rank has gone"},
    {LONE_TAKE_LARGE, LAB_ERANGE, 1, "ring_take of 4294967328 bytes with room for 64"},
    {LONE_TAKE_NO_WAIT, LAB_EPEER, 1, "ring_take when CUDA refuses to wait for prev_filled"},
    {LONE_TAKE_NO_COPY, LAB_EPEER, 1, "ring_take of 4294967328 bytes out of an inbox of 64"},
    {LONE_TAKE_NO_RECORD, LAB_EPEER, 0, "ring_take when CUDA refuses to record DRAINED"},
    {LONE_TAKE_UNHEARD, LAB_EPEER, 0, "ring_take when the previous rank cannot be told"},
};

static inline void check_failure(struct lab_test *t, const struct failure *f,
                                 const struct lone_out *out)
{
    expect_rc(t, f->call, out->rc[f->what], f->rc);
    expect_clear(t, f->call, out->last[f->what]);
    lab_expect(t, !f->stays || !out->moved[f->what],
               "%s returned an error and copied all the same: what fails ends the call", f->call);
    lab_expect(t, !out->told[f->what],
               "%s returned an error and told the neighbour that it was done", f->call);
    lab_expect(t, !out->counted[f->what], "%s returned an error and counted as a put", f->call);
    lab_expect(t, out->untouched[f->what], "%s returned an error and set *bytes all the same",
               f->call);
}

static inline void check_far_take(struct lab_test *t)
{
    const struct lone_in in = {.take = 1, .far = 1};
    const char *call = "ring_take of 2^31 + 8 bytes";
    if (!lab_is_virtual(t))
        return;
    const struct lone_out *out =
        lab_output(lab_run(t, "lone", &in, sizeof in, sizeof(struct lone_out)));
    lab_expect(t, !out->far_setup, "the memory for %s could not be allocated", call);
    expect_rc(t, call, out->far_rc, LAB_OK);
    lab_expect(t, out->far_bytes == LONE_FAR, "%s set *bytes to %llu, expected %llu", call,
               (unsigned long long)out->far_bytes, (unsigned long long)LONE_FAR);
}

static inline void check_failures(struct lab_test *t, int take)
{
    struct lone_in in = {.take = take};
    struct lab_run *run = lab_run(t, "lone", &in, sizeof in, sizeof(struct lone_out));
    const struct lone_out *out = lab_output(run);
    const struct failure *list = take ? take_failures : put_failures;
    int failures = take ? 6 : 5;
    for (int i = 0; i < failures; i++)
        check_failure(t, &list[i], out);
    expect_rc(t, take ? "ring_take into a null pointer" : "ring_put of a null pointer",
              out->refused[0], LAB_EINVAL);
    expect_rc(t, take ? "ring_take with bytes null" : "ring_put of 0 bytes", out->refused[1],
              LAB_EINVAL);
    expect_rc(t, take ? "ring_take without an inbox" : "ring_put without a next inbox",
              out->refused[2], LAB_EINVAL);
    lab_expect(t, !out->refused_told, "a call that was refused told a neighbour something");
    lab_refused_leaked_nothing(t, run);
}

#endif
