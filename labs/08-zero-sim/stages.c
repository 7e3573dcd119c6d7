/* SPDX-License-Identifier: MIT
 * stages.c: a small network planned in every stage: bytes of each kind on a rank, the peak of a
 * step, what a step sends. Given; it uses every function of the plan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab08.h"

static const struct zero_tensor tensor[] = {
    {"fc1.weight", 221, 0}, {"fc1.bias", 17, 0}, {"fc2.weight", 85, 1}, {"fc2.bias", 5, 1}};
static const uint64_t activation_bytes[] = {24 * 17 * 4, 24 * 5 * 4};

static void must(const char *what, int rc)
{
    if (rc == LAB_OK)
        return;
    fprintf(stderr, "stages: %s failed (%d)\n", what, rc);
    exit(1);
}

static void print_stage(const struct zero_model *model, const struct zero_how *how,
                        struct zero_work *work)
{
    struct zero_ledger ledger = {.ranks = 1, .granule_bytes = 512};
    const struct zero_layout *l = &work->layout;
    int failed;
    must("zero_layout", zero_layout(model, how, &work->layout));
    must("zero_schedule", zero_schedule(model, &work->layout, &work->schedule));
    must("zero_predict", zero_predict(&work->schedule, &ledger, 0, &failed));
    printf("%5d  %10" PRIu64 "  %9" PRIu64 "  %11" PRIu64 "  %6" PRIu64 "  %13" PRIu64 "  %5" PRIu64
           "\n",
           how->stage, l->bytes[ZERO_PARAM], l->bytes[ZERO_GRAD],
           l->bytes[ZERO_MASTER] + l->bytes[ZERO_MOMENTUM] + l->bytes[ZERO_VARIANCE],
           zero_states(l), ledger.most[0], zero_traffic(&work->schedule, how->ranks));
}

int main(int argc, char **argv)
{
    struct zero_model model = {tensor, 4, 2, activation_bytes};
    struct zero_how how = {.ranks = argc > 1 ? atoi(argv[1]) : 4, .align = 1};
    struct zero_work work;
    if (how.ranks < 1 || argc > 2) {
        fprintf(stderr, "usage: stages [ranks, at least 1]\n");
        return 2;
    }
    must("zero_work_open", zero_work_open(&model, &work));
    printf("328 parameters on %d ranks, bytes a rank\n", how.ranks);
    printf("stage  parameters  gradients  fp32 states  states  peak of a step   sent\n");
    for (how.stage = 0; how.stage < 4; how.stage++)
        print_stage(&model, &how, &work);
    zero_work_close(&work);
    return 0;
}
