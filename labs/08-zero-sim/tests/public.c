/* SPDX-License-Identifier: MIT
 * public.c: lab 08's public tests.
 */
#include "errors.h"
#include "fits.h"
#include "public_counts.h"
#include "public_run.h"
#include "referee.h"

/* ---- TODO 4 ---- */

static void check_schedule(struct lab_test *t)
{
    for (int stage = 0; stage < 4; stage++) {
        struct plan_in in = {.model = mlp(), .how = {.stage = stage, .ranks = 4, .align = 1}};
        check_schedule_of(t, &in);
    }
}

static void check_schedule_units(struct lab_test *t)
{
    for (int stage = 0; stage < 4; stage++) {
        struct plan_in in = {.model = primes(),
                             .how = {.stage = stage, .ranks = 3, .align = 4, .bucket = 2100}};
        check_schedule_of(t, &in);
        in.how.per_tensor = 1;
        check_schedule_of(t, &in);
        in.model.counted = 0;
        check_schedule_of(t, &in);
    }
}

static void check_schedule_offload(struct lab_test *t)
{
    for (int stage = 0; stage < 4; stage++) {
        struct plan_in in = {.model = primes(),
                             .how = {.stage = stage, .ranks = 2, .align = 1, .offload = 1}};
        check_schedule_of(t, &in);
    }
}

static void refuse_schedule(struct lab_test *t, const struct plan_in *in, const char *call,
                            int want)
{
    struct lab_run *run = lab_run(t, "schedule", in, sizeof *in, sizeof(struct schedule_out));
    const struct schedule_out *out = lab_output(run);
    expect_rc(t, call, out->rc, want);
    lab_expect(t, out->untouched, "%s failed and changed the schedule all the same", call);
}

static void check_schedule_bad(struct lab_test *t)
{
    struct plan_in in = {.model = mlp(), .how = {.stage = 3, .ranks = 2, .align = 1}};
    for (in.null = 1; in.null <= 4; in.null++)
        refuse_schedule(t, &in, "zero_schedule with a null pointer", LAB_EINVAL);
    in.null = 0;
    struct lab_run *run = lab_run(t, "schedule", &in, sizeof in, sizeof(struct schedule_out));
    int count = ((const struct schedule_out *)lab_output(run))->count, less[] = {1, 10, count - 1};
    check_schedule_of(t, &in);
    for (int i = 0; i < COUNT(less); i++) {
        in.cap = less[i];
        refuse_schedule(t, &in, "zero_schedule into too little room", LAB_ERANGE);
    }
    in.cap = count;
    check_schedule_of(t, &in); /* just enough */
}

/* ---- TODO 5 ---- */

static void check_predict(struct lab_test *t)
{
    struct predict_in in = any_schedule(t);
    uint64_t peak;
    check_predicted(t, &in);
    first_too_large(&in, &peak);
    for (int part = 1; part <= 4; part++) {
        in.limit_bytes = peak / 4 * (uint64_t)part;
        check_predicted(t, &in);
    }
    in.limit_bytes = peak - 1;
    check_predicted(t, &in);
    for (int i = 0; i < in.count; i++) /* a model of billions of parameters */
        in.op[i].bytes <<= 20;
    in.granule_bytes = 2 << 20;
    for (int part = 1; part <= 4; part++) {
        in.limit_bytes = (peak << 20) / 4 * (uint64_t)part;
        check_predicted(t, &in);
    }
}

static void check_fit(struct lab_test *t)
{
    struct io_model small = mlp(), large = primes();
    check_fits_of(t, &small, (struct zero_how){.ranks = 4, .align = 1}, 512);
    check_fits_of(t, &large, (struct zero_how){.ranks = 8, .align = 8, .bucket = 2500}, 512);
    check_fits_of(t, &large, (struct zero_how){.ranks = 3, .align = 1, .per_tensor = 1}, 1);
    check_fits_of(t, &large, (struct zero_how){.ranks = 3, .align = 1}, UINT64_C(3) << 32);
}

static void check_fit_bad(struct lab_test *t)
{
    check_predict_bad(t);
    struct fit_in in = {
        .model = mlp(),
        .how = {.ranks = 4, .align = 1},
        .asked = 5,
        .q = {{512, 100000, 1}, {512, 100000, 2}, {512, 100000, 3}, {0, 100000, 0}, {512, 0, 0}}};
    static const struct fit_question one_byte = {512, 1, 0};
    struct lab_run *run = lab_run(t, "fit", &in, sizeof in, sizeof(struct fit_out));
    const struct fit_out *out = lab_output(run);
    for (int i = 0; i < in.asked; i++) {
        expect_rc(t, "zero_fit of what makes no sense", out->rc[i], LAB_EINVAL);
        lab_expect(t, out->untouched[i], "zero_fit failed and wrote *fit all the same");
    }
    in.asked = 1;
    in.q[0] = one_byte;
    out = lab_output(lab_run(t, "fit", &in, sizeof in, sizeof(struct fit_out)));
    expect_rc(t, "zero_fit into 1 byte", out->rc[0], LAB_ENOMEM);
    in.how.align = 0;
    out = lab_output(lab_run(t, "fit", &in, sizeof in, sizeof(struct fit_out)));
    expect_rc(t, "zero_fit with align 0", out->rc[0], LAB_EINVAL);
    expect_bytes(t, "zero_fit with align 0", "what it allocated and did not free", out->left_bytes,
                 0);
}

LAB_CASES = {
    {.name = "shard",
     .todo = 1,
     .title = "zero_shard: every element has one owner",
     .rule = "shards are equally long and filled in order; the last rank's may be short",
     .points = 3,
     .quick = true,
     .check = check_shard},
    {.name = "shard_align",
     .todo = 1,
     .title = "zero_shard: shards are whole multiples of the alignment",
     .rule = "a shard that begins off the alignment cannot be read in vectors",
     .points = 1,
     .check = check_shard_align},
    {.name = "shard_bad",
     .todo = 1,
     .title = "zero_shard refuses what makes no sense",
     .points = 1,
     .check = check_shard_bad},
    {.name = "layout",
     .todo = 2,
     .title = "zero_layout: 16P, 4P + 12P/N, 2P + 14P/N, 16P/N bytes, and the padding",
     .rule = "each stage divides one more kind of data: fp32 states, gradients, parameters",
     .about = "bytes[ZERO_",
     .points = 4,
     .quick = true,
     .check = check_layout},
    {.name = "layout_units",
     .todo = 2,
     .title = "zero_layout: units by layer, by bucket, by tensor",
     .rule = "padding is counted once for each unit",
     .about = "padded is",
     .points = 3,
     .check = check_layout_units},
    {.name = "layout_bad",
     .todo = 2,
     .title = "zero_layout refuses what makes no sense",
     .points = 1,
     .check = check_layout_bad},
    {.name = "table1",
     .todo = 2,
     .title = "the 54 numbers of the paper's Table 1",
     .rule = "cut from 100 GB on, one digit from 10 GB on, two below, half up",
     .points = 4,
     .check = check_table1},
    {.name = "figure1",
     .todo = 2,
     .title = "the four numbers of the paper's Figure 1: 120, 31.4, 16.6, 1.9 GB",
     .points = 2,
     .quick = true,
     .check = check_figure1},
    {.name = "ledger",
     .todo = 3,
     .title = "ledger_add and ledger_drop: what is held, and the most at one time",
     .rule = "the peak is the largest total at one moment: the peaks of the kinds do not add up to"
             " it",
     .about = "most[rank]",
     .points = 4,
     .quick = true,
     .check = check_ledger},
    {.name = "ledger_limit",
     .todo = 3,
     .title = "ledger_add refuses what does not fit, and changes nothing",
     .points = 2,
     .check = check_ledger_limit},
    {.name = "ledger_bad",
     .todo = 3,
     .title = "the ledger refuses what makes no sense",
     .points = 1,
     .check = check_ledger_bad},
    {.name = "schedule",
     .todo = 4,
     .title = "zero_schedule: one step of every stage",
     .rule = "reduce before update, update before gather; nothing lives longer than its last use",
     .about = "is reduced|backward of",
     .points = 7,
     .quick = true,
     .check = check_schedule},
    {.name = "schedule_units",
     .todo = 4,
     .title = "zero_schedule: many units, units over many layers, layers without activations",
     .rule = "a unit's gradients are complete when its first layer's backward pass has ended",
     .points = 4,
     .check = check_schedule_units},
    {.name = "schedule_offload",
     .todo = 4,
     .title = "zero_schedule: states on the host",
     .points = 2,
     .check = check_schedule_offload},
    {.name = "schedule_bad",
     .todo = 4,
     .title = "zero_schedule refuses what makes no sense",
     .points = 1,
     .check = check_schedule_bad},
    {.name = "predict",
     .todo = 5,
     .title = "zero_predict names the operation that will not fit",
     .rule = "host memory is not GPU memory, and freed memory can be used again",
     .about = "most[rank]",
     .points = 4,
     .quick = true,
     .check = check_predict},
    {.name = "fit",
     .todo = 5,
     .title = "zero_fit: the smallest stage that fits, offload when none does",
     .points = 5,
     .check = check_fit},
    {.name = "fit_bad",
     .todo = 5,
     .title = "zero_fit refuses what makes no sense",
     .points = 1,
     .check = check_fit_bad},
    {.name = "place",
     .todo = 6,
     .title = "zero_place: whole and owned, in every stage",
     .rule = "what a stage cuts is whole only while it is gathered, or in the bucket",
     .points = 3,
     .quick = true,
     .check = check_place},
    {.name = "memory",
     .todo = 6,
     .title = "zero_memory allocates on every rank's GPU, frees, and books both",
     .points = 3,
     .min_gpus = 1,
     .wants_gpus = 3,
     .check = check_memory},
    {.name = "memory_full",
     .todo = 6,
     .title = "zero_memory: if one rank has no room, no rank keeps anything",
     .points = 2,
     .needs_witness = true,
     .check = check_memory_full},
    {.name = "reduce",
     .todo = 6,
     .title = "zero_reduce: what a rank owns is the sum over all ranks",
     .points = 3,
     .min_gpus = 1,
     .wants_gpus = 3,
     .check = check_reduce},
    {.name = "reduce_errors",
     .todo = 6,
     .title = "zero_reduce and zero_memory when a CUDA call fails: its error, and ledgers that are "
              "right",
     .rule = "a function that continues after an error, or returns another result, hides it",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_reduce_errors},
    {.name = "step",
     .todo = 6,
     .title =
         "stages 0 to 2 on 1 to 4 ranks: the same bits after ten steps, and the ledger is right",
     .rule = "partitioning changes where data is and in which order it is added, not what is "
             "computed",
     .about = "master copy",
     .points = 6,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_step},
    {.name = "step_traffic",
     .todo = 6,
     .title = "stages 0 to 2 send 2P (n - 1) / n elements a step and rank",
     .points = 2,
     .needs_witness = true,
     .one_order = true,
     .check = check_step_traffic},
    {.name = "step_full",
     .todo = 6,
     .title = "memory runs out where zero_predict predicted it",
     .points = 2,
     .needs_witness = true,
     .one_order = true,
     .check = check_step_full},
    {.name = "gather",
     .todo = 7,
     .title = "zero_gather: all parameters on all ranks",
     .points = 2,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_gather},
    {.name = "bus",
     .todo = 7,
     .title = "zero_bus: gradients to the host, parameters back",
     .points = 2,
     .min_gpus = 1,
     .wants_gpus = 2,
     .check = check_bus},
    {.name = "gather_errors",
     .todo = 7,
     .title = "zero_gather and zero_bus when a CUDA call fails: its error",
     .rule = "a function that continues after an error, or returns another result, hides it",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_gather_errors},
    {.name = "stage3",
     .todo = 7,
     .title = "stage 3 on 1 to 4 ranks: the same bits after ten steps, and the ledger is right",
     .rule = "gather before use, free after: no layer's parameters are whole for longer",
     .points = 4,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_stage3},
    {.name = "stage3_traffic",
     .todo = 7,
     .title = "stage 3 sends 3P (n - 1) / n elements a step and rank, and fails where predicted",
     .points = 2,
     .needs_witness = true,
     .one_order = true,
     .check = check_stage3_traffic},
    {.name = "offload",
     .todo = 7,
     .title = "offload: the same bits, states in pinned memory, PCIe's traffic and time",
     .points = 2,
     .needs_witness = true,
     .check = check_offload},
    {0},
};
