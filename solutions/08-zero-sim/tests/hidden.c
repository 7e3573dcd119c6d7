/* SPDX-License-Identifier: MIT
 * hidden.c: lab 08's hidden tests: other models, other ranks, the paper's Table 2.
 */
#include "fits.h"
#include "moves.h"
#include "referee.h"

static void check_shard_random(struct lab_test *t)
{
    struct shard_in in = {.asked = IO_ASKED};
    for (int i = 0; i < in.asked; i++) {
        int n = 1 + (int)(lab_random(t) % 1500);
        in.q[i] = (struct shard_question){.count = lab_random(t) >> (14 + lab_random(t) % 50),
                                          .align = 1 + lab_random(t) % 128,
                                          .n = n,
                                          .rank = (int)(lab_random(t) % (uint64_t)n)};
    }
    check_shards_of(t, &in);
}

static void check_layout_random(struct lab_test *t)
{
    for (int i = 0; i < 12; i++) {
        struct plan_in in = {.model = any_model(t), .how = any_how(t)};
        check_layout_of(t, &in);
    }
}

/* The largest model of which a rank's states fit into 32 GB: one parameter more does not. */
static uint64_t largest_that_fits(int stage, int ranks)
{
    uint64_t n = (uint64_t)ranks, most = 32 * GB;
    switch (stage) {
    case 0:
        return most / 16;
    case 1:
        return most * n / (4 * n + 12);
    case 2:
        return most * n / (2 * n + 14);
    default:
        return most * n / 16;
    }
}

static void check_table2(struct lab_test *t)
{
    struct states_in in = {.asked = 0};
    for (int i = 0; i < COUNT(table2); i++) {
        uint64_t params = largest_that_fits(table2[i].stage, table2[i].ranks);
        params -= params % (uint64_t)table2[i].ranks; /* without padding */
        in.q[in.asked++] = (struct states_question){params, table2[i].stage, table2[i].ranks};
        in.q[in.asked++] = (struct states_question){params + (uint64_t)table2[i].ranks,
                                                    table2[i].stage, table2[i].ranks};
    }
    struct lab_run *run = lab_run(t, "states", &in, sizeof in, sizeof(struct states_out));
    const struct states_out *out = lab_output(run);
    for (int i = 0; i < COUNT(table2); i++) {
        uint64_t tenths = in.q[2 * i].params / (GB / 10) * (uint64_t)table2[i].model_parallel;
        char got[32];
        if (tenths > 5000) /* 512, 1024 and 2048: printed as 0.5, 1 and 2 T */
            tenths = tenths / 5000 * 5000;
        snprintf(got, sizeof got, tenths % 10 ? "%" PRIu64 ".%" PRIu64 : "%" PRIu64, tenths / 10,
                 tenths % 10);
        lab_expect(t, out->bytes[2 * i] <= 32 * GB && out->bytes[2 * i + 1] > 32 * GB,
                   "stage %d on %d ranks: %" PRIu64 " parameters take %" PRIu64
                   " bytes; expected the most that fit into 32 GB",
                   table2[i].stage, table2[i].ranks, in.q[2 * i].params, out->bytes[2 * i]);
        lab_expect(t, strcmp(got, table2[i].printed) == 0,
                   "Table 2, model parallelism %d, stage %d: %s, and the paper prints %s",
                   table2[i].model_parallel, table2[i].stage, got, table2[i].printed);
    }
}

static void check_ledger_random(struct lab_test *t)
{
    struct ledger_in in = {.ranks = ZERO_MAX_RANKS, .granule_bytes = 512, .asked = IO_STEPS};
    in.limit_bytes = 20000;
    for (int i = 0; i < in.asked; i++) {
        struct ledger_step *s = &in.step[i];
        *s = (struct ledger_step){.rank = (int)(lab_random(t) % 3) * 7,
                                  .kind = (int)(lab_random(t) % ZERO_KINDS),
                                  .bytes = 1 + lab_random(t) % 7000};
        if (i > 0 && lab_random(t) % 3 == 0) {
            *s = in.step[lab_random(t) % (uint64_t)i];
            s->what = BOOK_DROP;
        }
    }
    check_books(t, &in);
}

static void check_schedule_random(struct lab_test *t)
{
    for (int i = 0; i < 24; i++) {
        struct plan_in in = {.model = any_model(t), .how = any_how(t)};
        check_schedule_of(t, &in);
    }
}

static void check_fit_random(struct lab_test *t)
{
    for (int i = 0; i < 8; i++) {
        struct io_model m = any_model(t);
        check_fits_of(t, &m, any_how(t), 1 + lab_random(t) % 600);
    }
    for (int i = 0; i < 4; i++) {
        struct predict_in in = any_schedule(t);
        in.limit_bytes = 20000 + lab_random(t) % 100000;
        check_predicted(t, &in);
    }
}

/* ---- the run ---- */

static struct io_net any_net(struct lab_test *t)
{
    return (struct io_net){.inputs = 5 + (int)(lab_random(t) % 9),
                           .hidden = 9 + (int)(lab_random(t) % 9),
                           .outputs = 2 + (int)(lab_random(t) % 4),
                           .batch = 24,
                           .seed = (uint32_t)lab_random(t)};
}

/* Other networks on up to 8 GPUs, units and padding as they come. */
static void check_any_training(struct lab_test *t, const int *stages, int count)
{
    static const int ranks[] = {8, 4, 6, 2};
    struct train_in one = {.net = any_net(t), .how = {.ranks = 1, .align = 1}, .steps = 10};
    lab_node(t, "dgx-a100");
    struct train_out want = *must_train(t, &one, NULL);
    check_first_step(t, &one, &want);
    for (int i = 0; i < count; i++) {
        const struct lab_witness *w;
        struct train_in in = one;
        in.how = any_how(t);
        in.how.stage = stages[i];
        in.how.offload = 0;
        in.how.bucket %= 200;
        in.how.ranks = ranks[i];
        const struct train_out *out = must_train(t, &in, &w);
        check_first_step(t, &in, out);
        check_same(t, &in, out, &want);
        check_held(t, &in, out, w);
    }
}

static void check_step_eight(struct lab_test *t)
{
    static const int stages[] = {2, 1, 0, 1};
    struct train_in in = {.how = {.stage = 1, .ranks = 8, .align = 3}};
    check_any_training(t, stages, COUNT(stages));
    in.net = any_net(t);
    check_sent(t, in);
}

static void check_stage3_eight(struct lab_test *t)
{
    static const int stages[] = {3, 3, 3, 3};
    struct train_in in = {.how = {.stage = 3, .ranks = 8, .align = 5}};
    check_any_training(t, stages, COUNT(stages));
    in.net = any_net(t);
    check_sent(t, in);
}

static void check_offload_any(struct lab_test *t)
{
    struct train_in one = {.net = any_net(t), .how = {.ranks = 1, .align = 1}, .steps = 5};
    lab_node(t, "dgx-a100");
    struct train_out want = *must_train(t, &one, NULL);
    struct train_in in = one;
    in.how = (struct zero_how){.stage = 3, .ranks = 4, .align = 2, .offload = 1};
    check_offloaded(t, in, &want);
    in.how = (struct zero_how){.stage = 1, .ranks = 3, .align = 7, .offload = 1, .bucket = 90};
    check_offloaded(t, in, &want);
}

/* Ranks that share GPUs compute what they compute on GPUs of their own. */
static void check_shared(struct lab_test *t, const char *node, int gpus, int ranks)
{
    struct train_in one = {.net = any_net(t), .how = {.ranks = 1, .align = 1}, .steps = 3};
    lab_node(t, node);
    struct train_out want = *must_train(t, &one, NULL);
    for (int stage = 0; stage < 4; stage += 3) {
        const struct lab_witness *w;
        struct train_in in = one;
        in.how = (struct zero_how){.stage = stage, .ranks = ranks, .align = 2};
        const struct train_out *out = must_train(t, &in, &w);
        uint64_t peak[IO_RANKS] = {0};
        check_first_step(t, &in, out);
        check_same(t, &in, out, &want);
        for (int r = 0; r < ranks; r++)
            peak[r % gpus] += out->most[r] + out->others;
        for (int g = 0; g < gpus; g++)
            expect_bytes(t, "ranks that share a GPU", "what the node saw there at most",
                         w->peak_asked_bytes[g], peak[g]);
    }
}

static void check_few_gpus(struct lab_test *t)
{
    struct train_in in = {.net = small_net, .how = {.ranks = 2, .align = 1}, .steps = 1};
    lab_node(t, "none");
    expect_rc(t, "zero_run_open without a GPU", ask_train(t, &in, NULL)->opened, LAB_ENOGPU);
    check_shared(t, "single", 1, 4);
    check_shared(t, "pcie-4090-2", 2, 3);
}

LAB_CASES = {
    {.name = "shard_random",
     .todo = 1,
     .title = "zero_shard of any count on up to 1500 ranks",
     .points = 1,
     .check = check_shard_random},
    {.name = "layout_random",
     .todo = 2,
     .title = "zero_layout of any model",
     .points = 1,
     .check = check_layout_random},
    {.name = "table2",
     .todo = 2,
     .title = "the model sizes of the paper's Table 2",
     .points = 2,
     .check = check_table2},
    {.name = "ledger_random",
     .todo = 3,
     .title = "any bookings on 16 ranks",
     .points = 1,
     .check = check_ledger_random},
    {.name = "schedule_random",
     .todo = 4,
     .title = "zero_schedule of any model",
     .points = 2,
     .check = check_schedule_random},
    {.name = "fit_random",
     .todo = 5,
     .title = "zero_fit and zero_predict of any model",
     .points = 3,
     .check = check_fit_random},
    {.name = "step_eight",
     .todo = 6,
     .title = "stages 0 to 2, other networks on up to 8 GPUs",
     .points = 2,
     .needs_witness = true,
     .one_order = true,
     .check = check_step_eight},
    {.name = "stage3_eight",
     .todo = 7,
     .title = "stage 3, other networks on up to 8 GPUs",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_stage3_eight},
    {.name = "offload_any",
     .todo = 7,
     .title = "offload, other networks and units",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_offload_any},
    {.name = "few_gpus",
     .title = "no GPU, and fewer than ranks, which share them",
     .points = 1,
     .needs_witness = true,
     .check = check_few_gpus},
    {0},
};
