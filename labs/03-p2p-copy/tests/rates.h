/* SPDX-License-Identifier: MIT
 * rates.h: what lab 03's public and hidden cases of TODO 6 to 8 share: rates against what the node
 * saw, curves against their formula.
 */
#ifndef LAB03_RATES_H
#define LAB03_RATES_H

#include <math.h>

#include "common.h"

/* ---- TODO 6 ---- */

/* Seconds of one repetition by the node's trace: the last P2P_REPEATS copies of that size, from the
 * start of the first to the end of the last. */
static inline double traced_seconds(const struct lab_witness *w, int from, int to, uint64_t bytes,
                                    int *copies)
{
    uint64_t start = 0, end = 0;
    *copies = 0;
    for (unsigned i = w->record_count; i-- > 0;) {
        const struct lab_record *r = &w->records[i];
        if (r->kind != LAB_COPY || r->from != from || r->to != to || r->bytes != bytes)
            continue;
        if (++*copies <= P2P_REPEATS)
            start = r->start_ps;
        if (r->end_ps > end)
            end = r->end_ps;
    }
    return (double)(end - start) * 1e-12 / P2P_REPEATS;
}

static inline void check_bw(struct lab_test *t, const struct bw *bw, uint64_t moved, int path)
{
    lab_expect(t, bw->bytes == moved, "bw.bytes is %zu, expected %llu: what one repetition moved",
               bw->bytes, (unsigned long long)moved);
    lab_expect(t, bw->path == (enum path)path, "bw.path is %s, expected %s",
               path_text((int)bw->path), path_text(path));
    lab_expect(t, bw->seconds > 0, "bw.seconds is %g, expected more than 0", bw->seconds);
    double gbs = (double)moved / bw->seconds / 1e9;
    lab_expect(
        t, fabs(bw->gbs - gbs) <= 1e-12 * gbs,
        "bw.gbs is %.15g, expected %.15g: %llu bytes in %.3g s, in GB/s (1e9 bytes a second)",
        bw->gbs, gbs, (unsigned long long)moved, bw->seconds);
    double ms = bw->seconds * 1e3 * P2P_REPEATS;
    lab_expect(t, fabs(ms - (double)(float)ms) <= 1e-12 * ms,
               "bw.seconds is %.17g, expected a P2P_REPEATS-th of the time of all repetitions that "
               "cudaEventElapsedTime gave: is it divided once, and in double?",
               bw->seconds);
}

/* Measures from -> to one way and compares with what the node saw of those copies. */
static inline double check_measured(struct lab_test *t, int from, int to, uint64_t bytes)
{
    struct measure_in in = {.asked = 1, .from = {from}, .to = {to}, .bytes = {bytes}};
    int copies;
    in.current = to;
    struct lab_run *run = lab_run(t, "measure", &in, sizeof in, sizeof(struct measure_out));
    const struct measure_out *out = lab_output(run);
    expect_measured(t, out->rc[0]);
    expect_clear(t, "p2p_measure", out->last[0]);
    expect_current(t, "p2p_measure", out->current[0], to);
    check_bw(t, &out->bw[0], bytes, PATH_PEER);
    expect_measure_told(t, run, &out->bw[0], from, to, bytes);
    lab_nothing_leaked(t, run);
    if (!lab_is_virtual(t))
        return out->bw[0].gbs;
    double seen = traced_seconds(lab_witness(run), from, to, bytes, &copies);
    lab_expect(t, copies > P2P_REPEATS,
               "the node saw %d copies of %llu bytes; expected a warm-up and %d repetitions",
               copies, (unsigned long long)bytes, P2P_REPEATS);
    lab_expect(t, out->bw[0].seconds > 0.98 * seen && out->bw[0].seconds < 1.05 * seen,
               "p2p_measure says %.3g s a repetition; the node saw the copies take %.3g s: is "
               "something else between the events, or the number of repetitions wrong? (CUDA "
               "gives milliseconds)",
               out->bw[0].seconds, seen);
    return out->bw[0].gbs;
}

static inline void refuse_measure(struct lab_test *t, struct measure_in in, const char *call,
                                  int want)
{
    in.asked = 1;
    in.current = -1;
    struct lab_run *run = lab_run(t, "measure", &in, sizeof in, sizeof(struct measure_out));
    const struct measure_out *out = lab_output(run);
    expect_rc(t, call, out->rc[0], want);
    expect_clear(t, call, out->last[0]);
    lab_expect(t, holds((const unsigned char *)&out->bw[0], IO_FILL, sizeof out->bw[0]),
               "%s failed and wrote into *result all the same", call);
    lab_refused_leaked_nothing(t, run);
}

/* ---- TODO 7 ---- */

/* A rate may be `factor` times the one that p2p_measure gives, or that part of it. */
static inline void check_matrix_of(struct lab_test *t, int n, uint64_t bytes, double factor)
{
    struct matrix_in in = {.n = n, .bytes = bytes};
    struct lab_run *run = lab_run(t, "matrix", &in, sizeof in, sizeof(struct matrix_out));
    const struct matrix_out *out = lab_output(run);
    expect_rc(t, "p2p_matrix", out->rc, LAB_OK);
    expect_current(t, "p2p_matrix", out->current, 0);
    for (int i = 0; i < n * n; i++) {
        double got = out->gbs[i], want = out->single[i];
        double back = out->single[i % n * n + i / n];
        lab_expect(
            t, got * factor > want && got < want * factor,
            "gbs[%d * %d + %d] is %.2f GB/s, expected about what p2p_measure(%d, %d) says, %.2f%s",
            i / n, n, i % n, got, i / n, i % n, want,
            i / n == i % n                           ? " (inside one GPU bytes move, too)"
            : got > 0.99 * back && got < 1.01 * back ? " (it is the rate of the other direction)"
                                                     : "");
        expect_told(t, run, "p2p_matrix's time of all repetitions of a pair",
                    (double)bytes * P2P_REPEATS / got / 1e9, i / n, i % n, bytes * P2P_REPEATS);
    }
    lab_expect(t, out->gbs[n * n] == IO_UNSET, "p2p_matrix wrote behind gbs[%d]", n * n - 1);
    lab_nothing_leaked(t, run);
}

/* Nothing of the host's memory is left allocated. */
static inline void check_matrix_frees(struct lab_test *t, int n, uint64_t bytes)
{
    struct matrix_in in = {.n = n, .bytes = bytes, .singles_first = 1};
    /* without its cache glibc sees at once what was given back */
    lab_env(t, "GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
    const struct matrix_out *out = ASK(t, "matrix", &in, matrix_out);
    lab_env(t, "GLIBC_TUNABLES", NULL);
    expect_rc(t, "p2p_matrix", out->rc, LAB_OK);
    lab_expect(t, out->left_bytes == 0,
               "p2p_matrix of %d GPUs left %llu bytes of the host's memory allocated, expected "
               "none: free an array of your own before you return",
               n, (unsigned long long)out->left_bytes);
}

static inline void refuse_matrix(struct lab_test *t, struct matrix_in in, const char *call,
                                 int want)
{
    struct lab_run *run = lab_run(t, "matrix", &in, sizeof in, sizeof(struct matrix_out));
    const struct matrix_out *out = lab_output(run);
    expect_rc(t, call, out->rc, want);
    for (int i = 0; i <= IO_PAIRS; i++)
        lab_expect(t, out->gbs[i] == IO_UNSET, "%s wrote gbs[%d] all the same", call, i);
    /* A real driver keeps host memory of its own after a call that failed. */
    lab_expect(t, out->left_bytes < 8 * (uint64_t)in.again || in.again == 0 || !lab_is_virtual(t),
               "%s left %llu bytes allocated in %d calls", call,
               (unsigned long long)out->left_bytes, in.again);
    lab_refused_leaked_nothing(t, run);
}

/* ---- TODO 8 ---- */

/* A machine of `latency` seconds and `rate` bytes a second, measured at these sizes. */
static inline struct half_in line(double latency, double rate, int points, const uint64_t *bytes)
{
    struct half_in in = {.points = points};
    for (int i = 0; i < points; i++) {
        double seconds = latency + (double)bytes[i] / rate;
        in.curve[i] = (struct bw){bytes[i], seconds, (double)bytes[i] / seconds / 1e9, PATH_PEER};
    }
    return in;
}

static inline double rate_at(const struct half_in *in, int i)
{
    return (double)in->curve[i].bytes / in->curve[i].seconds;
}

static inline double best_rate(const struct half_in *in)
{
    double best = 0;
    for (int i = 0; i < in->points; i++)
        best = fmax(best, rate_at(in, i));
    return best;
}

static inline void check_half_of(struct lab_test *t, const struct half_in *in, double want,
                                 double tolerance)
{
    const struct half_out *out = ASK(t, "half", in, half_out);
    expect_rc(t, "p2p_half", out->rc, LAB_OK);
    lab_expect(
        t,
        (double)out->half > want * (1 - tolerance) - 0.51 &&
            (double)out->half < want * (1 + tolerance) + 0.51,
        "p2p_half says %llu bytes, expected %.0f, where the rate is half of the curve's best, "
        "%.1f GB/s, whichever of its %d points has that",
        (unsigned long long)out->half, want, best_rate(in) / 1e9, in->points);
}

/* A curve of any shape: where the first point that is fast enough and the one before it say. */
static inline void check_half_shape(struct lab_test *t, const struct half_in *in)
{
    double wanted = best_rate(in) / 2;
    int q = 1;
    while (rate_at(in, q) < wanted)
        q++;
    const struct bw *left = &in->curve[q - 1], *right = &in->curve[q];
    double more = (double)(right->bytes - left->bytes);
    /* what is missing of `wanted`, in bytes, grows along a straight line, too: 0 is in between */
    double before = wanted * left->seconds - (double)left->bytes;
    double after = wanted * right->seconds - (double)right->bytes;
    check_half_of(t, in, (double)left->bytes + more * before / (before - after), 1e-9);
}

static inline int drawn(struct lab_test *t, unsigned n)
{
    return (int)(lab_random(t) % n);
}

/* `rates` are MB/s; the first is less than half of the best. */
static inline void check_half_rates(struct lab_test *t, int points, const double *rates)
{
    struct half_in in = {.points = points};
    uint64_t bytes = 0;
    for (int i = 0; i < points; i++) {
        bytes += 1 + lab_random(t) % ((uint64_t)5000 << i);
        in.curve[i].bytes = bytes;
        in.curve[i].seconds = (double)bytes / (rates[i] * 1e6);
        in.curve[i].gbs = drawn(t, 1000); /* nobody asks for it */
        in.curve[i].path = PATH_PEER;
    }
    check_half_shape(t, &in);
}

/* Curves that rise, fall and rise again, with the best rate anywhere behind the first point. */
static inline void check_half_shapes(struct lab_test *t)
{
    const double dip[] = {50, 200, 700, 400, 450, 1000}, late[] = {10, 450, 30, 499, 40, 501, 1000};
    check_half_rates(t, 6, dip);
    check_half_rates(t, 7, late);
    for (int points = 3; points < 9; points++) {
        double rates[8];
        for (int k = 0; k < points; k++)
            rates[k] = 1.5 + drawn(t, k == 0 ? 450 : 990); /* none is half of the best */
        rates[1 + drawn(t, (unsigned)points - 1)] = 1000;
        check_half_rates(t, points, rates);
    }
}

/* Half of the rate at the last size, on the straight line that all points lie on. */
static inline void check_half_line(struct lab_test *t, double latency, double rate, int points,
                                   const uint64_t *bytes)
{
    struct half_in in = line(latency, rate, points, bytes);
    double half = (double)in.curve[points - 1].bytes / in.curve[points - 1].seconds / 2;
    check_half_of(t, &in, half * latency / (1 - half / rate), 1e-9);
}

static inline void refuse_half(struct lab_test *t, const struct half_in *in, const char *call,
                               int want)
{
    const struct half_out *out = ASK(t, "half", in, half_out);
    expect_rc(t, call, out->rc, want);
    lab_expect(t, out->half == (uint64_t)(size_t)IO_UNSET, "%s wrote *half all the same", call);
}

#endif
