/* SPDX-License-Identifier: MIT
 * public_run.h: lab 08's public cases of the run, TODO 6 and 7; included by public.c.
 */
#ifndef LAB08_PUBLIC_RUN_H
#define LAB08_PUBLIC_RUN_H

#include "moves.h"
#include "trains.h"

/* ---- TODO 6 ---- */

static void check_place(struct lab_test *t)
{
    for (int stage = 0; stage < 4; stage++)
        check_places_of(t, stage, 3, stage % 2 ? 110 : (uint64_t)3 << 30);
    check_places_of(t, 1, 3, (uint64_t)3 << 30);
}

static void check_memory(struct lab_test *t)
{
    int gpus = lab_gpus(t);
    check_memory_of(t, 0, gpus);
    check_memory_of(t, 1, gpus);
    check_memory_large(t);
    lab_node(t, "textbook-a100-2");
    check_memory_of(t, 0, lab_gpus(t));
}

static void check_memory_full(struct lab_test *t)
{
    for (int full = 0; full < 3; full += 2)
        check_memory_full_of(t, full);
    check_memory_limit(t, 0);
    check_memory_limit(t, 1);
}

static void check_reduce(struct lab_test *t)
{
    for (int stage = 0; stage < 4; stage++) {
        struct move_in in = {.net = small_net,
                             .how = {.stage = stage, .ranks = 3, .align = 1},
                             .moved = MOVED_REDUCE};
        check_moved(t, &in);
        in.how.per_tensor = 1;
        in.unit = 3;
        check_moved(t, &in);
    }
}

/* Trains in `stages` on `ranks` ranks; all must give the bits of one rank in stage 0. */
static void check_training(struct lab_test *t, const int *stages, int count)
{
    struct train_in one = {.net = small_net, .how = {.ranks = 1, .align = 1}, .steps = 10};
    struct train_out want = *must_train(t, &one, NULL);
    check_first_step(t, &one, &want);
    lab_expect(t, want.loss[9] < want.loss[0], "the loss was %g and is %g after ten steps",
               want.loss[0], want.loss[9]);
    for (int i = 0; i < count; i++) {
        for (int ranks = 1; ranks <= 4; ranks++) {
            const struct lab_witness *w;
            struct train_in in = one;
            in.how.stage = stages[i];
            in.how.ranks = ranks;
            in.how.bucket = ranks == 3 ? 100 : 0;
            const struct train_out *out = must_train(t, &in, &w);
            check_first_step(t, &in, out);
            check_same(t, &in, out, &want);
            if (w) /* real GPUs have none who saw */
                check_held(t, &in, out, w);
        }
    }
}

static void check_step(struct lab_test *t)
{
    static const int stages[] = {0, 1, 2};
    check_training(t, stages, COUNT(stages));
}

static void check_step_traffic(struct lab_test *t)
{
    for (int stage = 0; stage < 3; stage++) {
        struct train_in in = {.net = small_net,
                              .how = {.stage = stage, .ranks = 2 + stage, .align = 4}};
        check_sent(t, in);
    }
}

static void check_step_full(struct lab_test *t)
{
    for (int stage = 0; stage < 3; stage++)
        check_full(t, stage);
}

/* ---- TODO 7 ---- */

static void check_gather(struct lab_test *t)
{
    for (int stage = 1; stage < 4; stage++) {
        struct move_in in = {.net = small_net,
                             .how = {.stage = stage, .ranks = 4, .align = 2},
                             .moved = MOVED_GATHER};
        check_moved(t, &in);
    }
}

static void check_bus(struct lab_test *t)
{
    for (int stage = 0; stage < 4; stage++) {
        struct move_in in = {.net = small_net,
                             .how = {.stage = stage, .ranks = 2, .align = 1, .offload = 1},
                             .moved = MOVED_TO_HOST};
        check_moved(t, &in);
        in.moved = MOVED_TO_GPU;
        check_moved(t, &in);
    }
}

static void check_stage3(struct lab_test *t)
{
    static const int stages[] = {3};
    check_training(t, stages, COUNT(stages));
}

static void check_stage3_traffic(struct lab_test *t)
{
    struct train_in in = {.net = small_net, .how = {.stage = 3, .ranks = 4, .align = 1}};
    check_sent(t, in);
    check_full(t, 3);
}

static void check_offload(struct lab_test *t)
{
    struct train_in one = {.net = small_net, .how = {.ranks = 1, .align = 1}, .steps = 4};
    struct train_out want = *must_train(t, &one, NULL);
    for (int stage = 0; stage < 4; stage++) {
        struct train_in in = one;
        in.how = (struct zero_how){.stage = stage, .ranks = 2, .align = 1, .offload = 1};
        check_offloaded(t, in, &want);
        check_sent(t, in);
    }
}

#endif
