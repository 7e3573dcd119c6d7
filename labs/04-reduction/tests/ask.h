/* SPDX-License-Identifier: MIT
 * ask.h: the questions of lab 04's tests: ask_... runs calls in one process and judges what came
 * back. What is right comes from numbers.h.
 */
#ifndef LAB04_ASK_H
#define LAB04_ASK_H

#include "numbers.h"
#include "work.h"

/* ---- split ---- */

/* All parts of one n. Judged by what they must have in common, so that any order of long and short
 * parts is fine. */
/* LAB_LOST_DATA where the parts do not hold every element. */
static inline enum lab_grave kind_of_split(const struct split_in *in, const struct split_out *out,
                                           int parts)
{
    uint64_t next = 0;
    for (int i = 0; i < parts && out[i].first == next; i++)
        next += out[i].count;
    return next == in[0].n ? LAB_NOT_GRAVE : LAB_LOST_DATA;
}

static inline void expect_split(struct lab_test *t, const struct split_in *in,
                                const struct split_out *out, int parts)
{
    uint64_t next = 0;
    enum lab_grave kind = kind_of_split(in, out, parts);
    for (int i = 0; i < parts; i++) {
        lab_expect(t, out[i].rc == LAB_OK, "split(%zu, %d, %d) returned %s, expected LAB_OK",
                   (size_t)in[i].n, parts, i, result_name(out[i].rc));
        lab_expect_grave(
            t, kind, out[i].first == next,
            "split(%zu, %d, %d): the part begins at %zu, expected %zu, where part %d ends",
            (size_t)in[i].n, parts, i, (size_t)out[i].first, (size_t)next, i - 1);
        lab_expect_grave(
            t, kind, out[i].count - in[i].n / (uint64_t)parts <= 1,
            "split(%zu, %d, %d): the part has %zu elements, expected %zu or one more: no part "
            "is more than one element longer than another, also where n is so large that a product "
            "wraps around",
            (size_t)in[i].n, parts, i, (size_t)out[i].count, (size_t)(in[i].n / (uint64_t)parts));
        next += out[i].count;
    }
    lab_expect_grave(t, kind, next == in[0].n,
                     "split(%zu, %d, ...): the parts have %zu elements together, expected %zu: the "
                     "n %% parts elements that are left over belong to a part, too",
                     (size_t)in[0].n, parts, (size_t)next, (size_t)in[0].n);
}

#define SPLIT_ROOM 2048
struct split_list {
    size_t used;
    struct split_in in[SPLIT_ROOM];
};

static inline void add_split(struct split_list *list, uint64_t n, int parts)
{
    for (int i = 0; i < parts && list->used < SPLIT_ROOM; i++)
        list->in[list->used++] = (struct split_in){.n = n, .parts = parts, .i = i};
}

/* The last `wrong` entries of the list must be refused. */
static inline void ask_split(struct lab_test *t, const struct split_list *list, size_t wrong)
{
    const struct split_out *out = lab_output(
        lab_run(t, "split", list->in, list->used * sizeof *list->in, list->used * sizeof *out));
    size_t at = 0;
    for (; at < list->used - wrong; at += (size_t)list->in[at].parts)
        expect_split(t, &list->in[at], &out[at], list->in[at].parts);
    for (; at < list->used; at++) {
        const struct split_in *in = &list->in[at];
        lab_expect(t, out[at].rc == LAB_EINVAL,
                   "split(%zu, %d, %d%s) returned %s, expected LAB_EINVAL", (size_t)in->n,
                   in->parts, in->i, in->no_first || in->no_count ? ", with a NULL" : "",
                   result_name(out[at].rc));
        lab_expect(t,
                   untouched(&out[at].first, sizeof out[at].first) &&
                       untouched(&out[at].count, sizeof out[at].count),
                   "split(%zu, %d, %d) is an error, yet it wrote a result", (size_t)in->n,
                   in->parts, in->i);
    }
}

/* ---- sum_shared and sum_warp ---- */

#define NUMBERS_MAX (1u << 18)
static struct {
    struct block_in in;
    float data[NUMBERS_MAX];
} blocks_question;

static inline void say_block_call(char *what, size_t room, const struct block_call *c)
{
    snprintf(what, room, "%s(%s, n = %zu, %s, blocks = %d) on GPU %d",
             c->which == BY_WARP ? "sum_warp" : "sum_shared",
             c->no_data ? "NULL"
             : c->shift ? "data (not aligned to 16 bytes)"
                        : "data",
             (size_t)c->n, c->no_partials ? "NULL" : "partials", c->blocks, c->gpu);
}

static inline void expect_block_call(struct lab_test *t, const struct block_call *c,
                                     const struct block_out *out, const float *partials,
                                     const float *data, enum numbers kind, int no_gpu)
{
    char what[160];
    bool bad = bad_block_call(c);
    int blocks = c->blocks > SUM_MAX_BLOCKS ? SUM_MAX_BLOCKS : c->blocks > 0 ? c->blocks : 0;
    size_t from = bad ? 0 : (size_t)blocks;
    say_block_call(what, sizeof what, c);
    expect_call(t, &out->call, bad ? LAB_EINVAL : no_gpu ? LAB_ENOGPU : LAB_OK, c->gpu, what);
    if (no_gpu)
        return;
    lab_expect(t, out->after == 0, "%s: its kernel ended with CUDA error %d", what, out->after);
    lab_expect_grave(t, bad ? LAB_NOT_GRAVE : LAB_LOST_DATA,
                     untouched(partials + from, ((size_t)blocks + GUARD - from) * sizeof(float)),
                     bad ? "%s is an error, yet it wrote partials"
                         : "%s wrote behind the last of its partials",
                     what);
    if (!bad)
        expect_partials(t, what, partials, data + c->first, (size_t)c->n, c->blocks, kind);
}

static inline struct lab_run *run_blocks(struct lab_test *t, const struct block_call *calls,
                                         size_t n, size_t floats, enum numbers kind)
{
    struct block_in *in = &blocks_question.in;
    memset(in, 0, sizeof *in);
    in->calls = n;
    memcpy(in->call, calls, n * sizeof *calls);
    fill_numbers(blocks_question.data, floats, kind, lab_secret(t));
    lab_seal(t, blocks_question.data, floats * sizeof(float), n * sizeof(struct block_sealed));
    return lab_run(t, "block_sums", in, sizeof *in, n * sizeof(struct block_out));
}

/* Sums parts of `floats` numbers of one kind. */
static inline struct lab_run *ask_blocks(struct lab_test *t, const struct block_call *calls,
                                         size_t n, size_t floats, enum numbers kind, int no_gpu)
{
    struct lab_run *run = run_blocks(t, calls, n, floats, kind);
    const struct block_out *out = lab_output(run);
    const struct block_sealed *sealed = lab_sealed_output(run);
    for (size_t i = 0; i < n; i++)
        expect_block_call(t, &calls[i], &out[i], sealed[i].partials, blocks_question.data, kind,
                          no_gpu);
    if (!no_gpu)
        expect_block_work(t, run, calls, n);
    lab_nothing_leaked(t, run);
    return run;
}

/* ---- sum_start, sum_host, sum_peer ---- */

static struct {
    struct parts_in in;
    float data[4 * NUMBERS_MAX];
} parts_question;

/* Parts on GPUs 0, 1, ... with the counts given and whole numbers; the rest is the caller's. */
static inline struct parts_in *parts_of(struct lab_test *t, const uint64_t *count, int parts,
                                        int blocks, enum numbers kind)
{
    struct parts_in *in = &parts_question.in;
    size_t at = 0;
    uint64_t seed = lab_secret(t);
    memset(in, 0, sizeof *in);
    in->parts = parts;
    in->repeats = 1;
    in->bad_event = -1;
    for (int i = 0; i < parts; i++) {
        in->gpu[i] = i;
        in->blocks[i] = blocks;
        in->count[i] = count[i];
        fill_numbers(parts_question.data + at, (size_t)count[i], kind, seed + (uint64_t)i * 7919);
        at += (size_t)count[i];
    }
    return in;
}

static inline const float *part_data(int part)
{
    size_t at = 0;
    for (int i = 0; i < part; i++)
        at += (size_t)parts_question.in.count[i];
    return parts_question.data + at;
}

static inline const char *combine_name(const struct parts_in *in)
{
    return in->combine == COMBINE_NOT    ? "sum_start"
           : in->combine == COMBINE_HOST ? "sum_host"
                                         : "sum_peer";
}

static inline void seal_parts(struct lab_test *t, size_t output_bytes)
{
    size_t floats = (size_t)(part_data(parts_question.in.parts) - parts_question.data);
    lab_seal(t, parts_question.data, floats * sizeof(float), output_bytes);
}

static inline struct lab_run *run_parts(struct lab_test *t)
{
    seal_parts(t, sizeof(struct parts_sealed));
    struct lab_run *run =
        lab_run(t, "parts", &parts_question.in, sizeof parts_question.in, sizeof(struct parts_out));
    const struct parts_out *out = lab_output(run);
    lab_expect(t, out->opened == 0, "the GPUs' memory, streams and events could not be made");
    return run;
}

static inline void expect_start(struct lab_test *t, const struct parts_out *out, int want)
{
    const struct parts_in *in = &parts_question.in;
    char what[96];
    snprintf(what, sizeof what, "sum_start of %d parts", in->parts);
    expect_call(t, &out->start, want, in->current, what);
}

static inline void expect_all_partials(struct lab_test *t, const struct lab_run *run,
                                       enum numbers kind)
{
    const struct parts_in *in = &parts_question.in;
    const struct parts_sealed *sealed = lab_sealed_output(run);
    for (int i = 0; i < in->parts; i++) {
        char what[96];
        snprintf(what, sizeof what, "sum_start, part %d (GPU %d, %zu elements), after its event", i,
                 in->gpu[i], (size_t)in->count[i]);
        expect_partials(t, what, sealed->partials[i], part_data(i), (size_t)in->count[i],
                        in->blocks[i], kind);
    }
    expect_part_work(t, run, in, "sum_start");
}

/* The sum of everything, and how far a result may be from it. */
static inline double sum_wanted(enum numbers kind, double *allowed)
{
    const struct parts_in *in = &parts_question.in;
    double sum = 0.0;
    *allowed = 0.0;
    for (int i = 0; i < in->parts; i++) {
        const float *data = part_data(i);
        double size = 0.0;
        for (size_t k = 0; k < in->count[i]; k++) {
            sum += data[k];
            size += fabs(data[k]);
        }
        if (kind == REAL)
            *allowed += rounding((size_t)in->count[i], in->blocks[i]) * size;
    }
    return sum;
}

/* The sum of each part's first partial: what is left when the others are forgotten. */
static inline double first_partials(void)
{
    const struct parts_in *in = &parts_question.in;
    double sum = 0.0;
    for (int i = 0; i < in->parts; i++)
        for (size_t k = 0; k < in->count[i]; k++)
            sum += k / SUM_THREADS % (size_t)in->blocks[i] == 0 ? part_data(i)[k] : 0;
    return sum;
}

/* Not only rounded: elements are missing in a sum of whole numbers, or there twice. */
static inline bool is_lost(double got, double sum, enum numbers kind)
{
    return kind == WHOLE && !(fabs(got - sum) <= 1e-6 * sum);
}

/* Judges what sum_host or sum_peer said in every repetition. */
static inline void expect_sums(struct lab_test *t, const struct parts_out *out, int want,
                               enum numbers kind)
{
    const struct parts_in *in = &parts_question.in;
    double allowed, sum = sum_wanted(kind, &allowed);
    char what[96];
    snprintf(what, sizeof what,
             in->combine == COMBINE_HOST ? "sum_host of %d parts" : "sum_peer of %d parts, root %d",
             in->parts, in->root);
    for (int k = 0; k < in->repeats; k++) {
        expect_call(t, &out->combine[k], want, in->current, what);
        lab_expect(t, want == LAB_OK || untouched(&out->sum[k], sizeof out->sum[k]),
                   "%s is an error, yet it wrote a sum", what);
        lab_expect_grave(
            t, is_lost(out->sum[k], sum, kind) ? LAB_LOST_DATA : LAB_NOT_GRAVE,
            want != LAB_OK || fabs(out->sum[k] - sum) <= allowed,
            "%s is %.17g, expected %.17g (allowed difference %.3g)%s", what, out->sum[k], sum,
            allowed,
            out->sum[k] < -1e6 || isnan(out->sum[k])
                ? "; it looks as if memory was read before it was written"
            : kind == WHOLE && out->sum[k] == first_partials()
                ? "; that is the first partial of each part: there is one for every block"
                : "");
        lab_expect(t, want != LAB_OK || memcmp(&out->sum[k], &out->sum[0], sizeof out->sum[0]) == 0,
                   "%s gave %.17g, then %.17g for the same numbers: the order of additions is not "
                   "the same in every run",
                   what, out->sum[0], out->sum[k]);
    }
}

/* sum_start, then sum_host or sum_peer (in->combine), and everything that must hold then. */
static inline struct lab_run *ask_sums(struct lab_test *t, int want, enum numbers kind)
{
    struct lab_run *run = run_parts(t);
    const struct parts_out *out = lab_output(run);
    expect_start(t, out, LAB_OK);
    expect_sums(t, out, want, kind);
    if (want == LAB_OK)
        expect_part_work(t, run, &parts_question.in,
                         parts_question.in.combine == COMBINE_HOST ? "sum_host" : "sum_peer");
    lab_nothing_leaked(t, run);
    return run;
}

/* ---- sum_scale ---- */

static inline void expect_scale(struct lab_test *t, const struct lab_run *run,
                                const struct scale_in *in, const struct scale_out *out, int want)
{
    const struct sum_scaling *s = &out->s;
    bool weak = in->kind == SUM_WEAK;
    char what[96];
    snprintf(what, sizeof what, "sum_scale(%zu, %d, %s)", (size_t)in->n, in->gpus,
             weak                     ? "SUM_WEAK"
             : in->kind == SUM_STRONG ? "SUM_STRONG"
                                      : "neither strong nor weak");
    expect_call(t, &out->call, want, in->current, what);
    if (want != LAB_OK) {
        lab_expect(t, untouched(s, sizeof *s), "%s is an error, yet it wrote into *out", what);
        return;
    }
    lab_expect(t, s->gpus == in->gpus, "%s: gpus is %d, expected %d", what, s->gpus, in->gpus);
    lab_expect(t, s->t1_ms > 0 && s->tg_ms > 0, "%s: T1 is %g ms, TG is %g ms: not measured", what,
               s->t1_ms, s->tg_ms);
    expect_timed(t, run, "T1", s->t1_ms, (size_t)in->n, 1);
    expect_timed(t, run,
                 weak ? "TG of weak scaling, n elements for each GPU"
                      : "TG of strong scaling, n elements shared by all GPUs",
                 s->tg_ms, (size_t)in->n * (weak ? (size_t)in->gpus : 1), in->gpus);
    double speedup = (weak ? in->gpus : 1) * s->t1_ms / s->tg_ms;
    lab_expect(t, fabs(s->speedup / speedup - 1) < 1e-6,
               "%s: T1 = %.4f ms, TG = %.4f ms, and the speedup is %.4f, expected %.4f", what,
               s->t1_ms, s->tg_ms, s->speedup, speedup);
    lab_expect(t, fabs(s->efficiency / (speedup / in->gpus) - 1) < 1e-6,
               "%s: a speedup of %.4f with %d GPUs, and the efficiency is %.4f, expected %.4f: "
               "what was reached of what %d GPUs could do, never the inverse",
               what, speedup, in->gpus, s->efficiency, speedup / in->gpus, in->gpus);
}

/* Sizes that no test has the time for: sum_time says at once what it is asked. */
static inline void ask_large_scale(struct lab_test *t, uint64_t n, int gpus, int32_t kind)
{
    const struct scale_in in = {.n = n, .gpus = gpus, .kind = kind, .pretend = 1};
    const uint64_t work = kind == SUM_WEAK ? n * (uint64_t)gpus : n;
    const struct scale_out *out =
        lab_output(lab_run(t, "scale", &in, sizeof in, sizeof(struct scale_out)));
    char what[96];
    bool one = false, all = false;
    snprintf(what, sizeof what, "sum_scale(%zu, %d, %s)", (size_t)n, gpus,
             kind == SUM_WEAK ? "SUM_WEAK" : "SUM_STRONG");
    expect_call(t, &out->call, LAB_OK, 0, what);
    for (int i = 0; i < out->asked && i < SCALE_ASKED; i++) {
        size_t asked = (size_t)out->asked_n[i];
        bool is_one = out->asked_gpus[i] == 1;
        lab_expect(t, asked == (is_one ? n : work),
                   "%s called sum_time(%zu, %d, ...), expected %zu", what, asked,
                   out->asked_gpus[i], (size_t)(is_one ? n : work));
        one |= is_one;
        all |= out->asked_gpus[i] == gpus;
    }
    lab_expect(t, one && all, "%s did not measure %s", what, one ? "all GPUs" : "one GPU");
    double speedup = (kind == SUM_WEAK ? gpus : 1) * out->s.t1_ms / out->s.tg_ms;
    lab_expect(t, fabs(out->s.speedup / gpus - 1) < 1e-6 && fabs(speedup / gpus - 1) < 1e-6,
               "%s: T1 = %g ms and TG = %g ms, and the speedup is %g, expected %d", what,
               out->s.t1_ms, out->s.tg_ms, out->s.speedup, gpus);
}

static inline struct lab_run *ask_scale(struct lab_test *t, const struct scale_in *in, size_t n,
                                        const int *want)
{
    struct lab_run *run = lab_run(t, "scale", in, n * sizeof *in, n * sizeof(struct scale_out));
    const struct scale_out *out = lab_output(run);
    for (size_t i = 0; i < n; i++)
        expect_scale(t, run, &in[i], &out[i], want[i]);
    lab_nothing_leaked(t, run);
    return run;
}

#endif
