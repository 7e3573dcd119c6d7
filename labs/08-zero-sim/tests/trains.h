/* SPDX-License-Identifier: MIT
 * trains.h: what lab 08's cases of the run share: training, and what must be true of it whatever
 * the stage and the ranks.
 */
#ifndef LAB08_TRAINS_H
#define LAB08_TRAINS_H

#include "common.h"
#include "io_run.h"
#include "reference.h"

static const struct io_net small_net = {13, 17, 5, 24, 1};

static inline const struct train_out *ask_train(struct lab_test *t, const struct train_in *in,
                                                const struct lab_witness **witness)
{
    struct lab_run *run = lab_run(t, "train", in, sizeof *in, sizeof(struct train_out));
    lab_nothing_leaked(t, run);
    if (witness)
        *witness = lab_witness(run);
    return lab_output(run);
}

/* Trains, and nothing may fail. */
static inline const struct train_out *must_train(struct lab_test *t, const struct train_in *in,
                                                 const struct lab_witness **witness)
{
    const struct train_out *out = ask_train(t, in, witness);
    char call[240];
    describe(&in->how, "zero_step", call, sizeof call);
    expect_rc(t, "zero_run_open", out->opened, LAB_OK);
    expect_rc(t, "zero_step(NULL)", out->null_rc, LAB_EINVAL);
    expect_rc(t, "zero_step of a run that is not open", out->closed_rc, LAB_EINVAL);
    expect_rc(t, "zero_run_start (zero_memory of what is resident)", out->started, LAB_OK);
    for (int i = 0; i < in->steps; i++)
        lab_expect(t, out->rc[i] == LAB_OK,
                   "%s: step %d returned %d (%s), expected 0 (LAB_OK), at operation %d, %s", call,
                   i, out->rc[i], rc_name(out->rc[i]), out->failed, out->name[1]);
    lab_expect(t, out->steps == in->steps, "%s: run->steps is %d, expected %d", call, out->steps,
               in->steps);
    return out;
}

/* ---- what was computed ---- */

static inline float half_value(uint16_t half)
{
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    float value =
        exponent ? ldexpf((float)(mantissa + 1024), exponent - 25) : ldexpf((float)mantissa, -24);
    return half >> 15 ? -value : value;
}

/* The first step against the reference in double: loss, every gradient, every master copy. */
static inline void check_first_step(struct lab_test *t, const struct train_in *in,
                                    const struct train_out *out)
{
    static struct reference ref;
    char call[240];
    reference_make(&in->net, &ref);
    describe(&in->how, "the first step", call, sizeof call);
    lab_close(t, "the loss of the first forward", out->loss[0], ref.loss, 1e-5);
    for (int i = 0; i < ref.params; i++) {
        float gradient = half_value(out->first_gradient[i]);
        /* Adam's first step is the learning rate, whatever the size of the gradient. */
        float want = ref.param[i] - (gradient > 0) * 0.01f + (gradient < 0) * 0.01f;
        lab_expect(t, fabs(gradient - ref.gradient[i]) <= 2.0 / DATA_STEPS,
                   "%s: the reduced gradient of parameter %d is %g, expected %g", call, i, gradient,
                   ref.gradient[i]);
        lab_expect(
            t, fabsf(out->first_master[i] - want) < 1e-5f,
            "%s: the master copy of parameter %d is %.7g after it, expected %.7g (it was %g)", call,
            i, out->first_master[i], want, ref.param[i]);
    }
}

static inline void check_same(struct lab_test *t, const struct train_in *in,
                              const struct train_out *out, const struct train_out *want)
{
    char call[240];
    describe(&in->how, "parameters after the last step", call, sizeof call);
    for (uint64_t i = 0; i < out->params; i++) {
        lab_expect(t, out->param[i] == want->param[i],
                   "%s: parameter %" PRIu64 " is %.6g, and in stage 0 on 1 rank %.6g: with sums "
                   "that are exact they are the same bits",
                   call, i, half_value(out->param[i]), half_value(want->param[i]));
        lab_expect(t, memcmp(&out->master[i], &want->master[i], sizeof(float)) == 0,
                   "%s: the master copy of parameter %" PRIu64 " is %.9g, and in stage 0 on 1 rank "
                   "%.9g",
                   call, i, out->master[i], want->master[i]);
    }
    lab_expect(t, out->rank_differs == -1,
               "%s: rank %d's fp16 parameters are not those of their owners", call,
               out->rank_differs);
}

/* ---- what was held ---- */

static inline void check_held(struct lab_test *t, const struct train_in *in,
                              const struct train_out *out, const struct lab_witness *w)
{
    char call[240];
    describe(&in->how, "ten steps", call, sizeof call);
    for (int r = 0; r < in->how.ranks; r++) {
        lab_expect(t, w->peak_asked_bytes[r] == out->most[r] + out->others,
                   "%s: GPU %d held at most %" PRIu64 " bytes by what the node saw; %" PRIu64
                   " by the ledger and %" PRIu64 " of samples and inboxes",
                   call, r, w->peak_asked_bytes[r], out->most[r], out->others);
        uint64_t sum = 0;
        for (int k = 0; k < ZERO_KINDS; k++) {
            sum += out->resident[r][k];
            lab_expect(t, k <= ZERO_VARIANCE || out->resident[r][k] == 0,
                       "%s: rank %d still holds %" PRIu64 " bytes of kind %d after the step", call,
                       r, out->resident[r][k], k);
        }
        expect_bytes(t, call, "held after the steps", out->held[r], sum);
    }
}

/* Bytes of states by the paper's formula, of elements with padding. With a ledger whose granule is
 * one byte, that is what is held, exactly. */
static inline void check_states(struct lab_test *t, const struct train_in *in,
                                const struct train_out *out)
{
    uint64_t n = (uint64_t)in->how.ranks, p = out->params, padded = out->padded, want;
    uint64_t bytes[] = {16 * padded, 4 * padded + 12 * padded / n, 2 * padded + 14 * padded / n,
                        16 * padded / n};
    char call[240];
    describe(&in->how, "states", call, sizeof call);
    want = bytes[in->how.stage];
    lab_expect(t, padded - p < (uint64_t)(IO_UNITS)*n * in->how.align,
               "%s: %" PRIu64 " elements with padding, of %" PRIu64, call, padded, p);
    for (int r = 0; r < in->how.ranks; r++)
        expect_bytes(t, call, "what a rank holds after the steps, host memory too",
                     out->held[r] + out->host_held[r], want);
}

/* ---- what was sent ---- */

static inline uint64_t between_gpus(const struct lab_witness *w, int ranks, uint64_t *strayed)
{
    uint64_t sum = 0;
    *strayed = 0;
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++) {
            if (from != to)
                sum += w->copied[from][to];
            if (from != to && to != (from + 1) % ranks)
                *strayed += w->copied[from][to];
        }
    return sum;
}

/* Per step 2P, 2P, 2P, 3P elements times (n - 1) / n, by each rank: from runs of 2 and 4 steps, so
 * that what is copied at the beginning and in the end is left out. And the states, to the byte. */
static inline void check_sent(struct lab_test *t, struct train_in in)
{
    uint64_t sum[2], strayed, bus[2][2] = {{0}}, waits[2];
    const struct train_out *out = NULL;
    char call[240];
    describe(&in.how, "a step", call, sizeof call);
    for (int i = 0; i < 2; i++) {
        const struct lab_witness *w;
        in.steps = 2 + 2 * i;
        in.granule_bytes = 1;
        out = must_train(t, &in, &w);
        sum[i] = between_gpus(w, in.how.ranks, &strayed);
        waits[i] = w->syncs;
        check_states(t, &in, out);
        lab_expect(t, strayed == 0, "%s: %" PRIu64 " bytes went past the ring's neighbours", call,
                   strayed);
        for (int r = 0; r < in.how.ranks; r++) {
            bus[i][0] += w->copied[r][LAB_HOST];
            bus[i][1] += w->copied[LAB_HOST][r];
        }
    }
    uint64_t n = (uint64_t)in.how.ranks, times = in.how.stage == 3 ? 3 : 2;
    uint64_t want = times * 2 * out->padded * (n - 1);
    lab_expect(t, sum[1] - sum[0] == 2 * want,
               "%s: the node saw %" PRIu64 " bytes between GPUs, expected %" PRIu64 ": %" PRIu64
               " (n - 1) / n times the model from each rank",
               call, (sum[1] - sum[0]) / 2, want, times);
    expect_bytes(t, call, "zero_traffic of all ranks", out->sent * n / n * n,
                 in.how.stage ? want : out->sent * n);
    /* To read the loss, the test waits for each rank; so do updates on the host, as they must. */
    lab_expect_no_wait(t, in.how.offload || (waits[1] - waits[0]) / 2 <= n,
                       "%s: the host waited %" PRIu64 " times for a stream, a GPU or an event, "
                       "expected %" PRIu64 ", to read the loss: zero_step queues its work, and "
                       "only cudaFree waits",
                       call, (waits[1] - waits[0]) / 2, n);
    /* Besides the offload's, each step reads the loss: 4 bytes an output and sample. */
    uint64_t loss = 4 * (uint64_t)(in.net.batch * in.net.outputs);
    uint64_t moved = in.how.offload ? 2 * out->shard * n : 0;
    expect_bytes(t, call, "to the host, PCIe", (bus[1][0] - bus[0][0]) / 2, moved + loss);
    expect_bytes(t, call, "to the GPUs, PCIe", (bus[1][1] - bus[0][1]) / 2, moved);
}

#endif
