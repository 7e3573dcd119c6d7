/* SPDX-License-Identifier: MIT
 * public.c: the tests of lab 07 that come with the lab.
 */
#include "common.h"

/* ---- TODO(1) ---- */

static void check_chunk(struct lab_test *t)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 7, 8, 9, 97, 1000003, UINT64_MAX};
    static struct chunk_in in[COUNT(counts) * 36 + 5];
    size_t used = 0;
    for (size_t c = 0; c < COUNT(counts); c++)
        for (int n = 1; n <= RING_RANKS; n++)
            for (int k = 0; k < n; k++)
                in[used++] = (struct chunk_in){.count = counts[c], .n = n, .k = k};
    size_t good = used;
    in[used++] = (struct chunk_in){.count = 10, .n = 0};
    in[used++] = (struct chunk_in){.count = 10, .n = 3, .k = 3};
    in[used++] = (struct chunk_in){.count = 10, .n = 3, .k = -1};
    in[used++] = (struct chunk_in){.count = 10, .n = 3, .no_first = 1};
    in[used++] = (struct chunk_in){.count = 10, .n = 3, .no_len = 1};
    const struct chunk_out *out =
        lab_output(lab_run(t, "chunk", in, used * sizeof *in, used * sizeof *out));
    for (size_t i = 0; i < used; i++) {
        const struct chunk_in *q = &in[i];
        int want = i < good ? LAB_OK : LAB_EINVAL;
        lab_expect(t, out[i].rc == want, "ring_chunk(%zu, %d, %d%s) returned %d (%s), expected %s",
                   (size_t)q->count, q->n, q->k, q->no_first || q->no_len ? ", with a NULL" : "",
                   out[i].rc, rc_name(out[i].rc), rc_name(want));
        if (want != LAB_OK) {
            lab_expect(t, untouched(&out[i].first, 8) && untouched(&out[i].len, 8),
                       "ring_chunk(%zu, %d, %d) is an error, yet it wrote a result",
                       (size_t)q->count, q->n, q->k);
            continue;
        }
        uint64_t first = chunk_first(q->count, q->n, q->k), len = chunk_len(q->count, q->n, q->k);
        lab_expect(t, out[i].first == first && out[i].len == len,
                   "ring_chunk(%zu, %d, %d): chunk %d is [%zu, %zu + %zu), expected [%zu, %zu + "
                   "%zu)",
                   (size_t)q->count, q->n, q->k, q->k, (size_t)out[i].first, (size_t)out[i].first,
                   (size_t)out[i].len, (size_t)first, (size_t)first, (size_t)len);
    }
}

/* ---- TODO(2) ---- */

static void check_reduce(struct lab_test *t)
{
    struct reduce_in in = {
        .call = {{.count = 1},
                 {.count = 1000, .op = RING_MAX},
                 {.count = 255, .type = RING_FLOAT32, .gpu = 1},
                 {.count = 257, .type = RING_FLOAT32, .op = RING_MAX},
                 {.count = 1001, .type = RING_FLOAT16},
                 {.count = 1001, .type = RING_FLOAT16, .op = RING_MAX, .gpu = 1},
                 {.count = 300007, .type = RING_INT32},
                 {.count = 0},
                 {.count = 0, .no_dst = 1, .no_src = 1},
                 {.count = 10, .no_dst = 1},
                 {.count = 10, .no_src = 1},
                 {.count = 10, .op = 5},
                 {.count = 10, .type = 5}},
    };
    in.calls = 13;
    ask_reduce(t, &in);
}

/* ---- TODO(3) to TODO(5) ---- */

/* Counts around the number of ranks, and one that is not small. */
static void ask_counts(struct lab_test *t, enum collective what, int out_of_place)
{
    static const int ranks[] = {1, 2, 3, 4};
    struct ring_call call[RING_CALLS];
    size_t used = 0;
    memset(call, 0, sizeof call);
    for (size_t i = 0; i < COUNT(ranks); i++) {
        uint64_t n = (uint64_t)ranks[i];
        const uint64_t counts[] = {0, 1, n > 1 ? n - 1 : 7, n, n + 1, 10007};
        for (size_t k = 0; k < COUNT(counts); k++)
            call[used++] = (struct ring_call){.what = what,
                                              .n = ranks[i],
                                              .count = counts[k],
                                              .type = (int)(k % 3),
                                              .op = (int)(used % 2),
                                              .out_of_place = out_of_place,
                                              .slices = 3,
                                              .repeats = 2};
    }
    ask_rings(t, call, used);
}

static void check_scatter(struct lab_test *t)
{
    ask_counts(t, DO_REDUCE_SCATTER, 0);
}

static void check_gather(struct lab_test *t)
{
    ask_counts(t, DO_ALL_GATHER, 0);
}

static void check_all(struct lab_test *t)
{
    ask_counts(t, DO_ALL_REDUCE, 0);
}

static void check_all_apart(struct lab_test *t)
{
    ask_counts(t, DO_ALL_REDUCE, 1);
}

#define IN_ORDER                                                                                   \
    "an event that has not been recorded yet is not waited for; streams know no other order"

const char lab_name[] = "lab07";

LAB_CASES = {
    {.name = "chunk",
     .todo = 1,
     .title = "the chunks cover all elements, each once, for any count",
     .rule = "the first count % n chunks are one element longer",
     .points = 6,
     .quick = true,
     .check = check_chunk},
    {.name = "reduce",
     .todo = 2,
     .title = "sum and largest of ints, floats and halves",
     .rule = "element i of dst becomes dst[i] op src[i], for each i < count and for no other",
     .points = 8,
     .quick = true,
     .min_gpus = 2,
     .check = check_reduce},
    {.name = "scatter",
     .todo = 3,
     .title = "afterwards rank r owns chunk r",
     .rule = "in step k rank r sends chunk r - 1 - k and adds what came in to chunk r - 2 - k",
     .points = 8,
     .min_gpus = 4,
     .check = check_scatter},
    {.name = "gather",
     .todo = 4,
     .title = "afterwards every rank has every chunk",
     .rule = "in step k rank r sends chunk r - k; " IN_ORDER,
     .points = 8,
     .min_gpus = 4,
     .check = check_gather},
    {.name = "all",
     .todo = 5,
     .title = "the result is exact on every rank, in place",
     .rule = "a reduce-scatter and an all-gather make an all-reduce",
     .points = 6,
     .min_gpus = 4,
     .check = check_all},
    {.name = "all_apart",
     .todo = 5,
     .title = "the result is exact on every rank, out of place, and send is kept",
     .rule = "out of place is in place on a copy",
     .points = 6,
     .min_gpus = 4,
     .check = check_all_apart},
    {0},
};
