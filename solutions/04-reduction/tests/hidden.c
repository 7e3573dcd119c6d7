/* SPDX-License-Identifier: MIT
 * hidden.c: the grader's tests of lab 04: other machines, other sizes, numbers from the seed.
 */
#include "ask.h"
#include "failures.h"

static int random_below(struct lab_test *t, int n)
{
    return (int)(lab_random(t) % (uint64_t)n);
}

/* ---- TODO(1) ---- */

static void check_split(struct lab_test *t)
{
    static struct split_list list;
    list.used = 0;
    for (int k = 0; k < 60; k++)
        add_split(&list, lab_random(t) >> random_below(t, 64), 1 + random_below(t, 16));
    add_split(&list, UINT64_MAX - 1, 16);
    add_split(&list, 5, 1000);
    list.in[list.used++] = (struct split_in){.n = 3, .parts = -2, .i = -1};
    list.in[list.used++] = (struct split_in){.n = 3, .parts = 2, .i = 1, .no_first = 1};
    ask_split(t, &list, 2);
}

/* ---- TODO(2) and TODO(3) ---- */

static void ask_kernel(struct lab_test *t, int32_t which)
{
    struct block_call calls[BLOCK_CALLS];
    for (size_t i = 0; i < COUNT(calls); i++)
        calls[i] = (struct block_call){.which = which,
                                       .gpu = random_below(t, 2),
                                       .blocks = 1 + random_below(t, 40),
                                       .shift = random_below(t, 4),
                                       .first = (uint64_t)random_below(t, 1000),
                                       .n = lab_random(t) % (1u << (1 + i % 15))};
    calls[0].blocks = SUM_MAX_BLOCKS;
    calls[1] = (struct block_call){.which = which, .blocks = 13, .n = 257 * 13};
    calls[2] = (struct block_call){.which = which, .blocks = -1, .n = 5};
    ask_blocks(t, calls, COUNT(calls), (1u << 15) + 1000, WHOLE, 0);
}

static void check_shared(struct lab_test *t)
{
    ask_kernel(t, BY_SHARED);
}

static void check_warp(struct lab_test *t)
{
    ask_kernel(t, BY_WARP);
}

static void check_shared_far(struct lab_test *t)
{
    ask_beyond_unsigned(t, BY_SHARED);
}

static void check_warp_far(struct lab_test *t)
{
    ask_beyond_unsigned(t, BY_WARP);
}

static void check_kernels_no_gpu(struct lab_test *t)
{
    static const struct block_call calls[] = {
        {.which = BY_SHARED, .blocks = 1, .no_data = 1},
        {.which = BY_WARP, .blocks = 1, .no_data = 1},
        {.which = BY_WARP, .blocks = 1, .no_data = 1, .no_partials = 1},
        {.which = BY_WARP, .blocks = 0, .no_data = 1},
    };
    if (!lab_is_virtual(t))
        lab_cannot_run(t, "it needs a machine without a GPU");
    lab_node(t, "none");
    ask_blocks(t, calls, COUNT(calls), 8, WHOLE, 1);
}

/* A launcher returns while its kernel is still to come. */
static void ask_asynchronous(struct lab_test *t, int32_t which)
{
    struct block_call call = {.which = which, .blocks = 8, .n = 1u << 14};
    lab_node(t, "textbook-4");
    const struct block_out *out = lab_output(ask_blocks(t, &call, 1, 1u << 14, WHOLE, 0));
    lab_expect_no_wait(t, out->query == NOT_READY,
                       "%s returned when its kernel had already ended: it must not wait",
                       which == BY_WARP ? "sum_warp" : "sum_shared");
}

static void check_shared_asynchronous(struct lab_test *t)
{
    ask_asynchronous(t, BY_SHARED);
}

static void check_warp_asynchronous(struct lab_test *t)
{
    ask_asynchronous(t, BY_WARP);
}

/* ---- TODO(4) ---- */

static void check_start_eight(struct lab_test *t)
{
    uint64_t count[10];
    for (size_t i = 0; i < COUNT(count); i++)
        count[i] = lab_random(t) % 9000;
    struct parts_in *in = parts_of(t, count, 10, 5, WHOLE);
    if (!lab_is_virtual(t))
        lab_cannot_run(t, "it needs eight GPUs");
    lab_node(t, "dgx-a100");
    for (int i = 0; i < 10; i++) {
        in->gpu[i] = (5 * i + 3) % 8; /* two GPUs have two parts each */
        in->blocks[i] = 1 + random_below(t, 30);
    }
    in->current = 6;
    struct lab_run *run = run_parts(t);
    expect_start(t, lab_output(run), LAB_OK);
    expect_all_partials(t, run, WHOLE);
    lab_nothing_leaked(t, run);
}

static void check_start_arguments(struct lab_test *t)
{
    static const uint64_t count[] = {300, 200, 100};
    static const int want[] = {LAB_EINVAL, LAB_ENOGPU, LAB_EINVAL, LAB_EINVAL};
    for (size_t k = 0; k < COUNT(want); k++) {
        struct parts_in *in = parts_of(t, count, 3, 2, WHOLE);
        in->current = 1;
        in->look = 1;
        in->no_part = k == 0;
        in->damage = (int32_t)k;
        in->damaged_part = 2;
        struct lab_run *run = run_parts(t);
        const struct parts_out *out = lab_output(run);
        expect_start(t, out, want[k]);
        for (int i = 0; i < 3; i++)
            lab_expect(t, out->stream[i] == 0,
                       "sum_start refused its arguments, yet it launched something for part %d", i);
        lab_refused_leaked_nothing(t, run);
    }
}

/* A failure in the middle: an event of another GPU cannot be recorded on the stream. */
static void check_start_fails(struct lab_test *t)
{
    static const uint64_t count[] = {1u << 15, 1u << 15, 1u << 15};
    struct parts_in *in = parts_of(t, count, 3, 8, WHOLE);
    in->bad_event = 1;
    in->look = 1;
    in->current = 2;
    if (lab_is_virtual(t))
        lab_node(t, "textbook-4");
    struct lab_run *run = run_parts(t);
    const struct parts_out *out = lab_output(run);
    expect_start(t, out, LAB_ECUDA);
    for (int i = 0; i < 3; i++)
        lab_expect(t, out->stream[i] == 0,
                   "sum_start failed at part 1, yet the kernel of part %d was still running when "
                   "it returned: the caller will free that memory",
                   i);
    lab_refused_leaked_nothing(t, run);
}

/* ---- TODO(5) and TODO(6) ---- */

static void ask_eight(struct lab_test *t, int32_t combine)
{
    uint64_t count[8];
    for (size_t i = 0; i < COUNT(count); i++)
        count[i] = lab_random(t) % 40000;
    count[2] = 0;
    struct parts_in *in = parts_of(t, count, 8, 32, WHOLE);
    if (!lab_is_virtual(t))
        lab_cannot_run(t, "it needs eight GPUs");
    lab_node(t, "dgx-a100");
    in->combine = combine;
    in->root = 5;
    in->reach = combine == COMBINE_PEER;
    in->current = 7;
    in->repeats = 2;
    for (int i = 0; i < 8; i++)
        in->blocks[i] = 1 + random_below(t, 300);
    in->blocks[5] = SUM_MAX_BLOCKS;
    ask_sums(t, LAB_OK, WHOLE);
}

static void check_host_eight(struct lab_test *t)
{
    ask_eight(t, COMBINE_HOST);
}

/* In an environment as a program has it that no test starts: the other cases' has these two. */
static void check_peer_eight(struct lab_test *t)
{
    lab_env(t, "VGPU_CHECK", NULL);
    lab_env(t, "VGPU_NODE", NULL);
    ask_eight(t, COMBINE_PEER);
}

static void ask_shared_gpu(struct lab_test *t, int32_t combine)
{
    static const uint64_t count[] = {777, 1, 10007};
    struct parts_in *in = parts_of(t, count, 3, 6, WHOLE);
    if (lab_is_virtual(t))
        lab_node(t, "single");
    in->gpu[1] = in->gpu[2] = 0;
    in->combine = combine;
    in->root = 2;
    in->repeats = 2;
    ask_sums(t, LAB_OK, WHOLE);
}

static void check_host_shared_gpu(struct lab_test *t)
{
    ask_shared_gpu(t, COMBINE_HOST);
}

static void check_peer_shared_gpu(struct lab_test *t)
{
    ask_shared_gpu(t, COMBINE_PEER);
}

static void check_peer_oneway(struct lab_test *t)
{
    static const uint64_t count[] = {3001, 2003};
    if (!lab_is_virtual(t))
        lab_cannot_run(t, "it needs two GPUs that reach each other one way only");
    for (int k = 0; k < 4; k++) {
        struct parts_in *in = parts_of(t, count, 2, 6, WHOLE);
        lab_node(t, "oneway-2");
        in->combine = COMBINE_PEER;
        in->root = k % 2;
        in->reach = 1;
        in->gpu[0] = k / 2, in->gpu[1] = !in->gpu[0];
        ask_sums(t, in->gpu[in->root] == 0 ? LAB_OK : LAB_ENOPEER, WHOLE);
    }
}

static void ask_bad_combine(struct lab_test *t, int32_t combine)
{
    static const uint64_t count[] = {300, 200};
    for (int k = 0; k < (combine == COMBINE_PEER ? 4 : 2); k++) {
        struct parts_in *in = parts_of(t, count, 2, 2, WHOLE);
        in->combine = combine;
        in->no_part = k == 0;
        in->no_sum = k == 1;
        in->root = k == 2 ? -1 : k == 3 ? 2 : 0;
        in->current = 1;
        struct lab_run *run = run_parts(t);
        expect_sums(t, lab_output(run), LAB_EINVAL, WHOLE);
        lab_refused_leaked_nothing(t, run);
    }
    struct parts_in *in = parts_of(t, count, 2, 2, WHOLE); /* the same with nothing wrong */
    in->combine = combine;
    in->reach = combine == COMBINE_PEER;
    ask_sums(t, LAB_OK, WHOLE);
}

static void check_host_arguments(struct lab_test *t)
{
    ask_bad_combine(t, COMBINE_HOST);
}

static void check_peer_arguments(struct lab_test *t)
{
    ask_bad_combine(t, COMBINE_PEER);
}

/* ---- TODO(7) ---- */

static void check_scale_few(struct lab_test *t)
{
    static const char *const on[] = {"none", "single", "pcie-4090-2"};
    if (!lab_is_virtual(t))
        lab_cannot_run(t, "it needs machines with no, one and two GPUs");
    for (int gpus = 0; gpus < 3; gpus++) {
        const struct scale_in in[] = {
            {.n = 10007, .gpus = 1, .kind = SUM_STRONG},
            {.n = 10007, .gpus = 2, .kind = SUM_WEAK},
            {.n = SIZE_MAX / 2, .gpus = 3, .kind = SUM_WEAK},
        };
        const int want[] = {gpus >= 1 ? LAB_OK : LAB_ENOGPU, gpus >= 2 ? LAB_OK : LAB_ENOGPU,
                            LAB_EINVAL};
        lab_node(t, on[gpus]);
        ask_scale(t, in, COUNT(in), want);
    }
}

/* Weak scaling where bringing the sums together costs 1 ms, whatever the size: E = T1 / (T1 + 1).
 */
static void check_scale_weak(struct lab_test *t)
{
    static const struct scale_in in[] = {
        {.n = 1u << 16, .gpus = 4, .kind = SUM_WEAK},
        {.n = 1u << 18, .gpus = 4, .kind = SUM_WEAK},
    };
    static const double least[] = {0.20, 0.50}, most[] = {0.26, 0.60};
    static const int want[] = {LAB_OK, LAB_OK};
    lab_node(t, "textbook-4");
    const struct scale_out *out = lab_output(ask_scale(t, in, COUNT(in), want));
    for (size_t i = 0; i < COUNT(in); i++) {
        const struct sum_scaling *s = &out[i].s;
        lab_expect(t, LAB_LEAST(t, s->efficiency, least[i]) && LAB_MOST(t, s->efficiency, most[i]),
                   "weak, %zu floats for each of 4 GPUs: T1 = %.2f ms, T4 = %.2f ms, efficiency "
                   "%.3f, expected %.2f to %.2f: T4 is the time of 4 times as many floats, and "
                   "bringing the sums together takes 1 ms more",
                   (size_t)in[i].n, s->t1_ms, s->tg_ms, s->efficiency, least[i], most[i]);
    }
}

#define EVERYWHERE "machines have no GPU, one, or more than you thought of"
#define OWN_BLOCKS "each part has as many blocks as it says, and some part has no elements"
#define NOT_A_NUMBER_LESS "any number of elements, any number of blocks, any alignment"

const char lab_name[] = "lab04";

LAB_CASES = {
    {.name = "split",
     .todo = 1,
     .title = "sizes from the seed, up to the largest",
     .rule = "every element belongs to exactly one part",
     .points = 2,
     .check = check_split},
    {.name = "shared",
     .todo = 2,
     .title = "sizes and blocks from the seed",
     .rule = NOT_A_NUMBER_LESS,
     .points = 1,
     .min_gpus = 2,
     .check = check_shared},
    {.name = "shared_far",
     .todo = 2,
     .title = "more than 2^32 elements",
     .rule = "an index into n elements needs the type of n",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_shared_far},
    {.name = "shared_asynchronous",
     .todo = 2,
     .title = "the launcher does not wait",
     .rule = "the caller decides when to wait, and not the function that launches",
     .points = 1,
     .needs_witness = true,
     .check = check_shared_asynchronous},
    {.name = "warp",
     .todo = 3,
     .title = "sizes and blocks from the seed",
     .rule = NOT_A_NUMBER_LESS,
     .points = 1,
     .min_gpus = 2,
     .check = check_warp},
    {.name = "warp_far",
     .todo = 3,
     .title = "more than 2^32 elements",
     .rule = "an index into n elements needs the type of n",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_warp_far},
    {.name = "warp_asynchronous",
     .todo = 3,
     .title = "the launcher does not wait",
     .rule = "the caller decides when to wait, and not the function that launches",
     .points = 1,
     .needs_witness = true,
     .check = check_warp_asynchronous},
    {.name = "kernels_no_gpu",
     .todo = 0,
     .title = "without a GPU the launchers say so",
     .rule = EVERYWHERE,
     .points = 1,
     .check = check_kernels_no_gpu},
    {.name = "start_eight",
     .todo = 4,
     .title = "ten parts on eight GPUs",
     .rule = "a part knows its GPU; its number is not its GPU",
     .points = 2,
     .check = check_start_eight},
    {.name = "start_arguments",
     .todo = 4,
     .title = "bad parts are refused before anything is launched",
     .rule = "a function that fails must leave everything as it was",
     .points = 2,
     .min_gpus = 3,
     .check = check_start_arguments},
    {.name = "start_fails",
     .todo = 4,
     .title = "when a later part fails, nothing is still running",
     .rule = "a caller that gets an error frees its memory: no kernel may still use it",
     .points = 2,
     .min_gpus = 3,
     .check = check_start_fails},
    {.name = "host_eight",
     .todo = 5,
     .title = "eight GPUs, one of them without elements",
     .rule = OWN_BLOCKS,
     .points = 1,
     .check = check_host_eight},
    {.name = "host_shared_gpu",
     .todo = 5,
     .title = "several parts on one GPU",
     .rule = EVERYWHERE,
     .points = 1,
     .min_gpus = 1,
     .check = check_host_shared_gpu},
    {.name = "host_arguments",
     .todo = 5,
     .title = "bad arguments are refused",
     .rule = EVERYWHERE,
     .points = 1,
     .min_gpus = 2,
     .check = check_host_arguments},
    {.name = "peer_eight",
     .todo = 6,
     .title = "eight GPUs, root 5, one of them without elements",
     .rule = OWN_BLOCKS,
     .points = 1,
     .check = check_peer_eight},
    {.name = "peer_shared_gpu",
     .todo = 6,
     .title = "several parts on one GPU: it needs no access to itself",
     .rule = EVERYWHERE,
     .points = 1,
     .min_gpus = 1,
     .check = check_peer_shared_gpu},
    {.name = "peer_oneway",
     .todo = 6,
     .title = "it is the root that must reach the others",
     .rule = "peer access has a direction",
     .points = 2,
     .check = check_peer_oneway},
    {.name = "peer_arguments",
     .todo = 6,
     .title = "bad arguments are refused",
     .rule = EVERYWHERE,
     .points = 1,
     .min_gpus = 2,
     .check = check_peer_arguments},
    {.name = "scale_few",
     .todo = 7,
     .title = "no GPU, one GPU, two without peer access",
     .rule = EVERYWHERE,
     .points = 1,
     .check = check_scale_few},
    {.name = "scale_weak",
     .todo = 7,
     .title = "weak scaling is better the more each GPU has to do",
     .rule = "a fixed cost weighs less beside more work",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_scale_weak},
    {0},
};
