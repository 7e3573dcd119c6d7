/* SPDX-License-Identifier: MIT
 * public.c: the tests of lab 07 that come with the lab.
 */
#include "public_fast.h"

/* ---- TODO(1) ---- */

/* Every element is in one of the chunks. */
static bool is_covered(const struct chunk_out *chunk, uint64_t count, int n)
{
    uint64_t next = 0;
    for (int k = 0; k < n && chunk[k].first == next; k++)
        next += chunk[k].len;
    return next == count;
}

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
        bool covered = is_covered(&out[i - (size_t)q->k], q->count, q->n);
        lab_expect_grave(
            t, covered ? LAB_NOT_GRAVE : LAB_LOST_DATA, out[i].first == first && out[i].len == len,
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
                 {.count = 600011, .type = RING_INT32},
                 {.count = 0},
                 {.count = 0, .no_dst = 1, .no_src = 1},
                 {.count = 1, .no_dst = 1},
                 {.count = 10, .no_src = 1},
                 {.count = 10, .op = 5},
                 {.count = 10, .type = 5}},
    };
    in.calls = 13;
    ask_reduce(t, &in, false);
    in = (struct reduce_in){.calls = 1, .call = {{.count = 1024, .type = RING_INT32}}};
    ask_reduce(t, &in, false);
    if (!lab_is_virtual(t))
        return;
    ask_reduce_waits(t);
    ask_no_launch(t);
    ask_far_elements(t);
}

/* ---- TODO(3) to TODO(5) ---- */

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
    ask_counts(t, DO_ALL_REDUCE, APART);
    ask_mixed(t, DO_ALL_REDUCE);
}

static void check_scatter_bytes(struct lab_test *t)
{
    ask_traffic(t, DO_REDUCE_SCATTER);
    ask_waits(t, (struct ring_call){.what = DO_REDUCE_SCATTER, .n = 4, .count = 1000});
}

/* Four copies are the test's. */
static void check_gather_bytes(struct lab_test *t)
{
    static const struct failure fails[] = {{"call:record=1", FAILS_RECORD, 0},
                                           {"call:wait=1", FAILS_WAIT, 0},
                                           {"call:copy=5", FAILS, 0},
                                           {"call:wait=5", FAILS_WAIT, 0}};
    ask_traffic(t, DO_ALL_GATHER);
    ask_waits(t, (struct ring_call){.what = DO_ALL_GATHER, .n = 4, .count = 1000});
    ask_refusals(t, DO_ALL_GATHER);
    ask_failures(t, DO_ALL_GATHER, fails, COUNT(fails));
    ask_each_call(t, DO_ALL_GATHER);
    ask_far(t);
}

static void check_all_bytes(struct lab_test *t)
{
    ask_traffic(t, DO_ALL_REDUCE);
}

static void check_all_bits(struct lab_test *t)
{
    ask_bits(t, DO_ALL_REDUCE);
}

static void check_all_waits(struct lab_test *t)
{
    ask_waits(t, (struct ring_call){.what = DO_ALL_REDUCE, .n = 4, .count = 1000});
}

static void check_scatter_refuses(struct lab_test *t)
{
    static const struct failure fails[] = {{"call:record=1", FAILS_RECORD, 0},
                                           {"call:wait=1", FAILS_WAIT, 0},
                                           {"call:copy=5", FAILS, 0},
                                           {"call:record=9", FAILS_RECORD, 0},
                                           {"call:launch=1", FAILS, 0}};
    ask_refusals(t, DO_REDUCE_SCATTER);
    ask_failures(t, DO_REDUCE_SCATTER, fails, COUNT(fails));
    ask_each_call(t, DO_REDUCE_SCATTER);
}

static void check_all_refuses(struct lab_test *t)
{
    static const struct failure fails[] = {
        {"call:copy=5", FAILS, 1}, {"call:launch=1", FAILS, 0}, {"call:copy=20", FAILS, 0}};
    ask_refusals(t, DO_ALL_REDUCE);
    ask_failures(t, DO_ALL_REDUCE, fails, COUNT(fails));
    ask_each_call(t, DO_ALL_REDUCE);
}

/* ---- all of them together, all yours ---- */

static void check_together(struct lab_test *t)
{
    ask_counts(t, DO_ALL_REDUCE, 0);
    ask_counts(t, DO_PIPELINED, 1);
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
     .about = "wrote behind|must be",
     .points = 7,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 2,
     .check = check_reduce},
    {.name = "scatter",
     .todo = 3,
     .title = "afterwards rank r owns chunk r",
     .rule = "in step k rank r sends chunk r - 1 - k and adds what came in to chunk r - 2 - k",
     .points = 8,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_scatter},
    {.name = "scatter_bytes",
     .todo = 3,
     .title = "rank r sends every chunk but r, to the next rank only",
     .rule = "the bound: each rank must send at least (N-1)/N of the bytes",
     .points = 3,
     .needs_witness = true,
     .one_order = true,
     .check = check_scatter_bytes},
    {.name = "scatter_refuses",
     .todo = 3,
     .title = "bad arguments are errors, and nothing is touched",
     .rule = "check everything before anything is queued",
     .about = "expected LAB_EINVAL|expected LAB_ERANGE",
     .points = 2,
     .min_gpus = 1,
     .wants_gpus = 3,
     .check = check_scatter_refuses},
    {.name = "gather",
     .todo = 4,
     .title = "afterwards every rank has every chunk",
     .rule = "in step k rank r sends chunk r - k; " IN_ORDER,
     .points = 7,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_gather},
    {.name = "gather_bytes",
     .todo = 4,
     .title = "rank r sends every chunk but r + 1, to the next rank only",
     .rule = "the bound: each rank must send at least (N-1)/N of the bytes",
     .points = 3,
     .needs_witness = true,
     .one_order = true,
     .check = check_gather_bytes},
    {.name = "all",
     .todo = 5,
     .title = "the result is exact on every rank, in place",
     .rule = "a reduce-scatter and an all-gather make an all-reduce",
     .points = 6,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_all},
    {.name = "all_apart",
     .todo = 5,
     .title = "the result is exact on every rank, out of place, and send is kept",
     .rule = "copy to recv first, then work in place",
     .points = 5,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_all_apart},
    {.name = "all_bytes",
     .todo = 5,
     .title = "2(N-1)S bytes in all, to ring neighbours only",
     .rule = "each rank sends 2S bytes, less the two chunks that it need not send",
     .points = 2,
     .needs_witness = true,
     .one_order = true,
     .check = check_all_bytes},
    {.name = "all_bits",
     .todo = 5,
     .title = "the same bits on every rank and in every run",
     .rule = "every chunk is added up once, along the ring, and then copied",
     .points = 2,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_all_bits},
    {.name = "all_waits",
     .todo = 5,
     .title = "the host waits for nothing",
     .rule = "a host that waits after each step makes GPUs wait for the host",
     .points = 2,
     .needs_witness = true,
     .check = check_all_waits},
    {.name = "all_refuses",
     .todo = 5,
     .title = "bad arguments are errors, and nothing is touched",
     .rule = "check everything before anything is queued",
     .about = "expected LAB_EINVAL|expected LAB_ERANGE",
     .points = 1,
     .min_gpus = 1,
     .wants_gpus = 3,
     .check = check_all_refuses},
    {.name = "pipelined",
     .todo = 6,
     .title = "the result is exact on every rank, with the same bits",
     .rule = IN_ORDER,
     .points = 4,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_pipelined},
    {.name = "pipelined_slices",
     .todo = 6,
     .title = "with any number of slices, and captured in a graph",
     .rule = "chunks differ by one element, so slice s of one chunk may be longer than of another",
     .points = 3,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_pipelined_slices},
    {.name = "pipelined_bytes",
     .todo = 6,
     .title = "slices change neither the bytes nor their receivers, and the host waits for nothing",
     .rule = "the same chunks in the same order, in pieces",
     .points = 2,
     .needs_witness = true,
     .one_order = true,
     .check = check_pipelined_bytes},
    {.name = "pipelined_fast",
     .todo = 6,
     .title = "64 MiB on four H200: at least 80 % of what the ports allow",
     .rule = "a port is idle if its rank sends nothing while something is added",
     .points = 4,
     .needs_witness = true,
     .one_order = true,
     .check = check_pipelined_fast},
    {.name = "order",
     .todo = 7,
     .title = "a ring along links, even on a hybrid cube mesh",
     .rule = "CUDA does not forward copies: two GPUs without a link copy through the host",
     .about = "without a link",
     .points = 4,
     .quick = true,
     .check = check_order},
    {.name = "order_widest",
     .todo = 7,
     .title = "the narrowest hop is as wide as possible",
     .rule = "a ring is as fast as its slowest hop",
     .points = 3,
     .quick = true,
     .check = check_order_widest},
    {.name = "one_shot",
     .todo = 8,
     .title = "bonus: small messages in one step, the same bits on every rank",
     .rule =
         "every rank adds in the order of the ranks, and no inbox is filled while a rank reads it",
     .points = 0,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_one_shot},
    {.name = "pick",
     .todo = 8,
     .title = "bonus: one shot for small messages, the ring for large ones",
     .rule = "one step costs (N-1)S bytes, the ring 2(N-1) steps",
     .about = "went from rank",
     .points = 0,
     .needs_witness = true,
     .check = check_pick},
    {.name = "together",
     .todo = 0,
     .title = "your functions work together",
     .rule = "what one function leaves behind (an error, another current device) disturbs the next",
     .points = 1,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_together},
    {0},
};
