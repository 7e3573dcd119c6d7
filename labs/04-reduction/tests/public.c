/* SPDX-License-Identifier: MIT
 * public.c: the tests of lab 04 that come with the lab.
 */
#include "failures.h"
#include "trace.h"

#define MANY (1u << 17)

/* ---- TODO(1) ---- */

static void check_split(struct lab_test *t)
{
    static const uint64_t sizes[] = {0,         1, 2, 3, 7, 8, 10, 97, 1000003, (1ull << 40) + 5,
                                     UINT64_MAX};
    static const int parts[] = {1, 2, 3, 4, 8};
    static struct split_list list;
    list.used = 0;
    for (size_t k = 0; k < COUNT(sizes); k++)
        for (size_t p = 0; p < COUNT(parts); p++)
            add_split(&list, sizes[k], parts[p]);
    list.in[list.used++] = (struct split_in){.n = 10, .parts = 0};
    list.in[list.used++] = (struct split_in){.n = 10, .parts = 3, .i = 3};
    list.in[list.used++] = (struct split_in){.n = 10, .parts = 3, .i = -1};
    list.in[list.used++] = (struct split_in){.n = 10, .parts = 3, .no_count = 1};
    list.in[list.used++] = (struct split_in){.n = 10, .parts = 3, .no_first = 1};
    ask_split(t, &list, 5);
}

/* ---- TODO(2) and TODO(3) ---- */

static void ask_kernel(struct lab_test *t, int32_t which)
{
    struct block_call calls[] = {
        {.blocks = 1, .n = 1},
        {.blocks = 1, .n = 256},
        {.blocks = 3, .n = 0},
        {.blocks = 2, .n = 255, .first = 5},
        {.blocks = 7, .n = 1000, .shift = 1},
        {.blocks = 64, .n = 4099, .gpu = 1, .shift = 3},
        {.blocks = 5, .n = 65537, .gpu = 1},
        {.blocks = 4, .n = 0, .no_data = 1},
        {.blocks = 0, .n = 10},
        {.blocks = 4, .n = 1, .no_data = 1},
        {.blocks = 4, .n = 1ull << 32, .no_data = 1},
        {.blocks = 4, .n = 10, .no_partials = 1},
        {.blocks = SUM_MAX_BLOCKS, .n = 700},
        {.blocks = SUM_MAX_BLOCKS + 1, .n = 10},
    };
    for (size_t i = 0; i < COUNT(calls); i++)
        calls[i].which = which;
    ask_blocks(t, calls, COUNT(calls), 65600, WHOLE, 0);
    calls[0] = (struct block_call){.which = which, .blocks = 1, .n = 8 * SUM_THREADS};
    expect_spread(t, ask_blocks(t, calls, 1, 8 * SUM_THREADS, SPREAD, 0),
                  which == BY_WARP ? "sum_warp" : "sum_shared", 8);
    if (!lab_is_virtual(t))
        return;
    ask_no_launch(t, which);
    ask_far_elements(t, which);
}

static void check_shared(struct lab_test *t)
{
    ask_kernel(t, BY_SHARED);
}

static void check_warp(struct lab_test *t)
{
    ask_kernel(t, BY_WARP);
}

static void ask_rounding(struct lab_test *t, int32_t which)
{
    struct block_call calls[] = {
        {.which = which, .blocks = 16, .n = MANY},
        {.which = which, .blocks = 16, .n = MANY, .gpu = 1},
        {.which = which, .blocks = 16, .n = MANY},
    };
    struct lab_run *run = ask_blocks(t, calls, COUNT(calls), MANY, REAL, 0);
    const struct block_sealed *out = lab_sealed_output(run);
    for (size_t i = 1; i < COUNT(calls); i++)
        lab_expect(t, memcmp(out[i].partials, out[0].partials, 16 * sizeof(float)) == 0,
                   "the same numbers gave other bits in another run: the order of additions must "
                   "not depend on which thread is first");
    calls[0] = (struct block_call){.which = which, .blocks = 1, .n = 8 * SUM_THREADS};
    ask_blocks(t, calls, 1, 8 * SUM_THREADS, COARSE, 0);
}

static void check_shared_rounding(struct lab_test *t)
{
    ask_rounding(t, BY_SHARED);
}

static void check_warp_rounding(struct lab_test *t)
{
    ask_rounding(t, BY_WARP);
}

/* ---- TODO(4) ---- */

static void check_start(struct lab_test *t)
{
    static const uint64_t count[] = {4099, 1, 0, 70000};
    struct parts_in *in = parts_of(t, count, 4, 9, WHOLE);
    in->current = 2;
    in->blocks[1] = 3;
    struct lab_run *run = run_parts(t);
    expect_start(t, lab_output(run), LAB_OK);
    expect_all_partials(t, run, WHOLE);
    lab_nothing_leaked(t, run);
    refuse_parts(t, COMBINE_NOT);
    if (!lab_is_virtual(t))
        return;
    fail_parts(t, COMBINE_NOT, 0, "call:launch=2,clock:0=0.01", "the second launch");
    fail_parts(t, COMBINE_NOT, 2, "call:record=3,clock:0=0.01", "the third cudaEventRecord");
    fail_each_call(t, COMBINE_NOT, 2);
}

/* GPUs with slow memory: what the host does between two launches is short beside a kernel. */
static void check_start_overlaps(struct lab_test *t)
{
    static const uint64_t count[] = {1u << 15, 1u << 15, 1u << 15, 1u << 15};
    double first_start = 1e18, last_start = -1, first_end = 1e18;
    parts_of(t, count, 4, 16, WHOLE)->look = 1;
    lab_node(t, "textbook-4");
    struct lab_run *run = run_parts(t);
    const struct parts_out *out = lab_output(run);
    expect_start(t, out, LAB_OK);
    for (int gpu = 0; gpu < 4; gpu++) {
        double start, end;
        busy(lab_witness(run), gpu, &start, &end);
        lab_expect(t, start >= 0, "sum_start launched no kernel on GPU %d", gpu);
        lab_expect_no_wait(
            t, start < first_end,
            "the kernel of GPU %d started at %.1f us, when another GPU had already finished "
            "(at %.1f us): something waits between the launches",
            gpu, start, first_end);
        first_start = start < first_start ? start : first_start;
        last_start = start > last_start ? start : last_start;
        first_end = end < first_end ? end : first_end;
    }
    lab_expect(t, LAB_MOST(t, last_start - first_start, first_end - first_start),
               "the last kernel started at %.1f us, the first had ended at %.1f us", last_start,
               first_end);
    for (int i = 0; i < 4; i++)
        lab_expect(t, out->query[i] == NOT_READY,
                   "when sum_start returned, the event of part %d was %s: sum_start must neither "
                   "wait nor record before the kernel",
                   i, out->query[i] == 0 ? "already complete" : "not valid");
    expect_all_partials(t, run, WHOLE);
}

/* ---- TODO(5) and TODO(6) ---- */

static void ask_combine(struct lab_test *t, int32_t combine, int root, enum numbers kind)
{
    static const uint64_t count[] = {MANY, MANY - 1, 12345, 1};
    struct parts_in *in = parts_of(t, count, 4, 16, kind);
    in->current = 1;
    in->combine = combine;
    in->root = root;
    in->reach = combine == COMBINE_PEER;
    in->repeats = 3;
    ask_sums(t, LAB_OK, kind);
}

/* 2^24 and three ones: partials that are added in float lose the ones. Only the root needs a
 * place for the sum. */
static void ask_double(struct lab_test *t, int32_t combine)
{
    static const uint64_t count[] = {1, 1, 1, 1};
    static const float numbers[] = {COARSE_FLOAT, 1, 1, 1};
    struct parts_in *in = parts_of(t, count, 4, 1, WHOLE);
    memcpy(parts_question.data, numbers, sizeof numbers);
    in->combine = combine;
    in->root = 1;
    in->reach = combine == COMBINE_PEER;
    in->damage = DAMAGE_TOTAL;
    in->damaged_part = 0;
    ask_sums(t, LAB_OK, WHOLE);
}

static void check_host(struct lab_test *t)
{
    ask_combine(t, COMBINE_HOST, 0, WHOLE);
    ask_double(t, COMBINE_HOST);
    refuse_parts(t, COMBINE_HOST);
    if (!lab_is_virtual(t))
        return;
    fail_parts(t, COMBINE_HOST, 1, "call:copy=5",
               "the copy of the second part"); /* 3 are the test's */
    fail_parts(t, COMBINE_HOST, 2, "call:sync=4", "the wait for the first part");
    fail_each_call(t, COMBINE_HOST, 2);
}

static void check_host_rounding(struct lab_test *t)
{
    ask_combine(t, COMBINE_HOST, 0, REAL);
}

/* As many parts as there may be, which fills whatever has room for them. */
static void ask_most_parts(struct lab_test *t)
{
    uint64_t count[SUM_MAX_PARTS];
    for (int i = 0; i < SUM_MAX_PARTS; i++)
        count[i] = 100 + (uint64_t)i;
    struct parts_in *in = parts_of(t, count, SUM_MAX_PARTS, 2, WHOLE);
    in->combine = COMBINE_PEER;
    in->reach = 1;
    for (int i = 0; i < SUM_MAX_PARTS; i++)
        in->gpu[i] = i % 4;
    ask_sums(t, LAB_OK, WHOLE);
}

static void check_peer(struct lab_test *t)
{
    ask_combine(t, COMBINE_PEER, 0, WHOLE);
    ask_combine(t, COMBINE_PEER, 3, WHOLE);
    ask_double(t, COMBINE_PEER);
    refuse_parts(t, COMBINE_PEER);
    if (!lab_is_virtual(t))
        return;
    ask_most_parts(t);
    fail_parts(t, COMBINE_PEER, 1, "call:wait=1", "a cudaStreamWaitEvent");
    fail_parts(t, COMBINE_PEER, 2, "call:launch=4", "the launch of its kernel");
    fail_parts(t, COMBINE_PEER, 0, "call:copy=4", "the copy of the sum");
    fail_each_call(t, COMBINE_PEER, 2);
}

static void check_peer_rounding(struct lab_test *t)
{
    ask_combine(t, COMBINE_PEER, 2, REAL);
}

/* Access is a matter of GPUs: parts 0 and 1 may lie on two that do not reach each other, and parts
 * 0 and 2 on the same. */
static void check_peer_sockets(struct lab_test *t)
{
    static const uint64_t count[] = {1000, 999, 501};
    struct parts_in *in = parts_of(t, count, 2, 4, WHOLE);
    lab_node(t, "pcie-dual-socket-4");
    in->combine = COMBINE_PEER;
    in->gpu[0] = 1, in->gpu[1] = 2;
    ask_sums(t, LAB_ENOPEER, WHOLE);
    in = parts_of(t, count, 3, 4, WHOLE);
    lab_node(t, "pcie-dual-socket-4");
    in->combine = COMBINE_PEER;
    in->reach = 1;
    in->gpu[0] = in->gpu[2] = 2, in->gpu[1] = 3;
    ask_sums(t, LAB_OK, WHOLE);
}

static void check_peer_alone(struct lab_test *t)
{
    static const uint64_t count[] = {1000, 999};
    struct parts_in *in = parts_of(t, count, 2, 4, WHOLE);
    if (!lab_is_virtual(t))
        lab_cannot_run(t, "it needs two GPUs without peer access");
    lab_node(t, "pcie-4090-2");
    in->combine = COMBINE_PEER;
    ask_sums(t, LAB_ENOPEER, WHOLE);
    check_peer_sockets(t);
}

static struct parts_in *peer_question(struct lab_test *t)
{
    static const uint64_t count[] = {5000, 4000, 3000, 2000};
    struct parts_in *in = parts_of(t, count, 4, 16, WHOLE);
    in->combine = COMBINE_PEER;
    in->root = 1;
    in->reach = 1;
    return in;
}

/* The partials stay where they are: the root's kernel reads them, one double comes to the host. */
static void check_peer_reads(struct lab_test *t)
{
    const struct parts_in *in = peer_question(t);
    const struct lab_witness *w = lab_witness(ask_sums(t, LAB_OK, WHOLE));
    uint64_t to_host = 0, moved = 0;
    for (int from = 0; from < 4; from++) {
        to_host += w->copied[from][LAB_HOST];
        for (int to = 0; to < 4; to++)
            moved += w->copied[from][to];
    }
    lab_expect(t, to_host == sizeof(double),
               "sum_peer brought %zu bytes to the host, expected %zu: the sum, nothing else",
               (size_t)to_host, sizeof(double));
    lab_expect(t, moved == 0,
               "%zu bytes were copied between GPUs, expected none: the kernel reads the partials "
               "where they lie",
               (size_t)moved);
    for (int gpu = 0; gpu < 4; gpu++)
        lab_expect(t, gpu == in->root || w->kernel_bytes[in->root][gpu] > 0,
                   "no kernel on GPU %d (the root) read memory of GPU %d", in->root, gpu);
}

/* How often the host waits in one sum_peer: once and twice, the difference is one call. */
static void check_peer_waits(struct lab_test *t)
{
    int waits[2];
    for (int k = 0; k < 2; k++) {
        peer_question(t)->repeats = 1 + k;
        waits[k] = (int)lab_witness(ask_sums(t, LAB_OK, WHOLE))->completion_checks;
    }
    int own = waits[1] - waits[0] - 4; /* the test itself waits for each of the four streams */
    lab_expect_no_wait(
        t, own <= 2,
        "in sum_peer the host waited %d times, expected once, for the result: let the "
        "root's stream wait for the others' events (cudaStreamWaitEvent)",
        own);
}

/* ---- TODO(7) ---- */

/* What is refused, or too large for any GPU, is so before a kernel has run. */
static void ask_unmeasured(struct lab_test *t)
{
    static const struct scale_in in[] = {
        {.n = 1000, .gpus = 0, .kind = SUM_WEAK},
        {.n = 1000, .gpus = -1, .kind = SUM_WEAK},
        {.n = (1ull << 40) + 1000, .gpus = 2, .kind = SUM_STRONG},
        {.n = 1000, .gpus = 2, .kind = SUM_STRONG, .no_out = 1},
        {.n = 1000, .gpus = 2, .kind = 7},
        {.n = SIZE_MAX / 2, .gpus = 3, .kind = SUM_WEAK},
    };
    static const int want[] = {LAB_EINVAL, LAB_EINVAL, LAB_ENOMEM,
                               LAB_EINVAL, LAB_EINVAL, LAB_EINVAL};
    struct lab_run *run = ask_scale(t, in, COUNT(in), want);
    unsigned kernels = lab_kernels_within(run, NULL, 0).count;
    lab_expect(
        t, kernels == 0,
        "six calls of sum_scale launched %u kernels, expected none: for 0 and -1 GPUs, with out "
        "NULL, of an unknown kind and of more floats than a size_t counts nothing is "
        "measured, and 2^40 + 1000 floats fit nowhere (did n become an int?)",
        kernels);
}

static void check_scale(struct lab_test *t)
{
    static const struct scale_in in[] = {
        {.current = 1, .n = 100003, .gpus = 3, .kind = SUM_STRONG},
        {.current = 2, .n = 50021, .gpus = 4, .kind = SUM_WEAK},
        {.n = 1000, .gpus = 1, .kind = SUM_STRONG},
        {.n = 0, .gpus = 2, .kind = SUM_STRONG},
        {.n = 1000, .gpus = 0, .kind = SUM_STRONG},
        {.n = 1000, .gpus = 2, .kind = 7},
        {.n = 1000, .gpus = 2, .kind = SUM_STRONG, .no_out = 1},
        {.n = SIZE_MAX / 2, .gpus = 3, .kind = SUM_WEAK},
        {.n = SIZE_MAX / 2, .gpus = 2, .kind = SUM_WEAK},
        {.n = SIZE_MAX, .gpus = 2, .kind = SUM_STRONG},
        {.n = 1ull << 40, .gpus = 1, .kind = SUM_WEAK},
        {.n = 1000, .gpus = SUM_MAX_PARTS, .kind = SUM_WEAK},
        {.n = 1000, .gpus = SUM_MAX_PARTS + 1, .kind = SUM_STRONG},
    };
    static const int want[] = {LAB_OK,     LAB_OK,     LAB_OK,     LAB_EINVAL, LAB_EINVAL,
                               LAB_EINVAL, LAB_EINVAL, LAB_EINVAL, LAB_ENOMEM, LAB_ENOMEM,
                               LAB_ENOMEM, LAB_ENOGPU, LAB_EINVAL};
    ask_scale(t, in, COUNT(in), want);
    ask_large_scale(t, (1ull << 32) + 2, 3, SUM_STRONG);
    ask_large_scale(t, (1ull << 29) + 1, 8, SUM_WEAK);
    ask_unmeasured(t);
}

/* The example of the book: 4 GB at 200 GB/s are 20 ms on one GPU, and 5 ms + 1 ms on four. Here
 * with 2^22 floats, on GPUs that are slower by the same factor. */
static void check_example_b(struct lab_test *t)
{
    static const struct scale_in in = {.n = 1u << 22, .gpus = 4, .kind = SUM_STRONG};
    static const int want = LAB_OK;
    lab_node(t, "textbook-4");
    struct lab_run *run = ask_scale(t, &in, 1, &want);
    const struct sum_scaling *s = &((const struct scale_out *)lab_output(run))->s;
    double alone = longest(lab_witness(run), 0), shared = longest(lab_witness(run), 3);
    lab_expect(t, s->t1_ms >= alone && LAB_MOST(t, s->t1_ms, alone + 1.5),
               "T1 is %.2f ms, but the one GPU computed for %.2f ms", s->t1_ms, alone);
    lab_expect(t, s->tg_ms >= shared && LAB_MOST(t, s->tg_ms, shared + 2),
               "T4 is %.2f ms, but each of the four GPUs computed for %.2f ms", s->tg_ms, shared);
    lab_expect(t, LAB_LEAST(t, s->speedup, 3.1) && LAB_MOST(t, s->speedup, 3.6),
               "4 GPUs: T1 = %.2f ms, T4 = %.2f ms, speedup %.2f, expected 3.1 to 3.6 (a quarter "
               "of the time, and about 1 ms to bring the partial sums together)",
               s->t1_ms, s->tg_ms, s->speedup);
}

/* ---- all of them together, all yours ---- */

static void check_together(struct lab_test *t)
{
    static const struct scale_in scale = {.n = 100003, .gpus = 4, .kind = SUM_STRONG};
    static const int want = LAB_OK;
    ask_combine(t, COMBINE_HOST, 0, WHOLE);
    ask_combine(t, COMBINE_PEER, 1, WHOLE);
    ask_scale(t, &scale, 1, &want);
}

#define EACH_ONCE "every element belongs to exactly one part"
#define SAME_BITS "floating-point addition is not associative: a fixed order gives fixed bits"
#define FIRST_LAUNCH                                                                               \
    "a wait inside the loop makes the GPUs take turns: then four are as slow as one"
#define NO_ORDER "streams are ordered by events only: without one, the reader may be first"

const char lab_name[] = "lab04";

LAB_CASES = {
    {.name = "split",
     .todo = 1,
     .title = "the parts cover n, each element once, as evenly as possible",
     .rule = EACH_ONCE "; i * n / parts overflows for a large n",
     .points = 6,
     .quick = true,
     .check = check_split},
    {.name = "shared",
     .todo = 2,
     .title = "every block's partial is exact, for any n and any number of blocks",
     .rule =
         "each element is added once, whatever n and blocks are; there must be a barrier between "
         "the write of a shared word and its read by another thread",
     .about = "partials[",
     .points = 8,
     .quick = true,
     .min_gpus = 2,
     .check = check_shared},
    {.name = "shared_rounding",
     .todo = 2,
     .title = "rounding errors stay small, and the bits are the same in every run",
     .rule = SAME_BITS,
     .points = 2,
     .min_gpus = 2,
     .check = check_shared_rounding},
    {.name = "warp",
     .todo = 3,
     .title = "shuffles give the same partials",
     .rule = "all lanes named in the mask take part, and each warp's sum is used once",
     .about = "partials[",
     .points = 8,
     .quick = true,
     .min_gpus = 2,
     .check = check_warp},
    {.name = "warp_rounding",
     .todo = 3,
     .title = "rounding errors stay small, and the bits are the same in every run",
     .rule = SAME_BITS,
     .points = 2,
     .min_gpus = 2,
     .check = check_warp_rounding},
    {.name = "start",
     .todo = 4,
     .title = "after each part's event its partials are complete",
     .rule = "an event covers what was queued in its stream before it was recorded",
     .points = 6,
     .min_gpus = 4,
     .check = check_start},
    {.name = "start_overlaps",
     .todo = 4,
     .title = "all GPUs compute at the same time, and the host did not wait",
     .rule = FIRST_LAUNCH,
     .points = 8,
     .needs_witness = true,
     .one_order = true,
     .check = check_start_overlaps},
    {.name = "host",
     .todo = 5,
     .title = "the host's sum is exact",
     .rule = NO_ORDER "; 2^24 + 1 is not a float, so add in double",
     .points = 6,
     .min_gpus = 4,
     .check = check_host},
    {.name = "host_rounding",
     .todo = 5,
     .title = "close to the exact sum, the same bits in every run",
     .rule = SAME_BITS,
     .points = 2,
     .min_gpus = 4,
     .check = check_host_rounding},
    {.name = "peer",
     .todo = 6,
     .title = "the root's sum is exact, whichever part is the root",
     .rule = NO_ORDER,
     .points = 5,
     .min_gpus = 4,
     .check = check_peer},
    {.name = "peer_rounding",
     .todo = 6,
     .title = "close to the exact sum, the same bits in every run",
     .rule = SAME_BITS,
     .points = 2,
     .min_gpus = 4,
     .check = check_peer_rounding},
    {.name = "peer_alone",
     .todo = 6,
     .title = "without peer access it returns LAB_ENOPEER",
     .rule = "a kernel that follows a pointer it has no access to ends the program's use of CUDA",
     .points = 3,
     .check = check_peer_alone},
    {.name = "peer_reads",
     .todo = 6,
     .title = "the root reads the partials in place, and one double is copied to the host",
     .rule = "with peer access the partials need not be copied",
     .points = 3,
     .needs_witness = true,
     .check = check_peer_reads},
    {.name = "peer_waits",
     .todo = 6,
     .title = "the root's stream waits for the others, and the host only for the result",
     .rule = "a stream can wait for another GPU's event, so the host need not wait",
     .points = 2,
     .needs_witness = true,
     .check = check_peer_waits},
    {.name = "scale",
     .todo = 7,
     .title = "speed-up and efficiency, strong and weak",
     .rule = "E = T1 / (G TG), with the T1 of the same total work",
     .about = "SUM_WEAK): T1",
     .points = 4,
     .min_gpus = 4,
     .one_order = true,
     .check = check_scale},
    {.name = "example_b",
     .todo = 7,
     .title = "20 ms on one GPU become 5 + 1 ms on four",
     .rule = "the work that is not split limits the speed-up",
     .points = 5,
     .needs_witness = true,
     .one_order = true,
     .check = check_example_b},
    {.name = "together",
     .todo = 0,
     .title = "your functions work together",
     .rule = "what one function leaves behind (an error, another current device) disturbs the next",
     .points = 3,
     .min_gpus = 4,
     .check = check_together},
    {0},
};
