/* SPDX-License-Identifier: MIT
 * stages.c: a small network planned in every stage: bytes of each kind on a rank, the peak of a
 * step, what a step sends; and trained in every stage, where there is a GPU. Given; it uses every
 * function of the lab.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab08.h"
#include "run.h"

static const struct zero_tensor tensor[] = {
    {"fc1.weight", 221, 0}, {"fc1.bias", 17, 0}, {"fc2.weight", 85, 1}, {"fc2.bias", 5, 1}};

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

#define STEPS 10
#define PARAMS 328

/* One line; `first` are the parameters that stage 0 ended with. */
static int train(const struct zero_how *how, uint16_t first[PARAMS])
{
    const struct zero_net net = {13, 17, 5, 24, 1};
    uint16_t param[PARAMS];
    double loss[2] = {0, 0};
    struct zero_run run;
    int rc = zero_run_open(&run, &net, how);
    if (rc == LAB_ENOGPU || rc == LAB_EINVAL)
        return rc;
    must("zero_run_open", rc);
    must("zero_run_start", zero_run_start(&run));
    for (int i = 0; i < STEPS; i++) {
        must("zero_step", zero_step(&run));
        must("zero_run_loss", zero_run_loss(&run, &loss[i > 0]));
    }
    must("zero_run_read", zero_run_read(&run, ZERO_PARAM, param));
    if (how->stage == 0 && !how->offload)
        memcpy(first, param, sizeof param);
    if (how->offload)
        printf("offl.");
    else
        printf("%5d", how->stage);
    printf("  %11.4f  %10.4f  %13" PRIu64 "  %13" PRIu64 "  %s\n", loss[0], loss[1],
           run.gpu.most[0], run.host.most[0],
           memcmp(first, param, sizeof param) == 0 ? "as in stage 0" : "DIFFERENT");
    zero_run_close(&run);
    return LAB_OK;
}

static void train_all(struct zero_how how)
{
    uint16_t first[PARAMS];
    int gpus = 0;
    int shared = cudaGetDeviceCount(&gpus) == cudaSuccess && gpus < how.ranks;
    printf("\n%d steps on %d %s\n"
           "stage  loss before  loss after  ledger's peak  states pinned  parameters\n",
           STEPS, how.ranks, shared ? "ranks that share GPUs" : "GPUs");
    for (int i = 0; i < 5; i++) {
        how.stage = i < 4 ? i : 3;
        how.offload = i == 4;
        int rc = train(&how, first);
        if (rc) {
            printf("%s\n", rc == LAB_ENOGPU ? "not run: there is no GPU"
                                            : "not run: 24 samples are to be shared evenly by at "
                                              "most 8 ranks");
            return;
        }
    }
}

int main(int argc, char **argv)
{
    struct zero_how how = {.ranks = argc > 1 ? atoi(argv[1]) : 4, .align = 1};
    struct zero_work work;
    if (how.ranks < 1 || argc > 2) {
        fprintf(stderr, "usage: stages [ranks, at least 1]\nPrints the memory and the traffic of "
                        "every stage of ZeRO.\n");
        return 2;
    }
    /* The hidden layer's outputs for a rank's share of 24 samples. */
    uint64_t activation_bytes[] = {(uint64_t)(24 / how.ranks) * 17 * sizeof(float), 0};
    struct zero_model model = {tensor, 4, 2, activation_bytes};
    must("zero_work_open", zero_work_open(&model, &work));
    printf("%d parameters on %d ranks; bytes on each rank:\n", PARAMS, how.ranks);
    printf("stage  parameters  gradients  fp32 states    kept  peak of a step   sent\n");
    for (how.stage = 0; how.stage < 4; how.stage++)
        print_stage(&model, &how, &work);
    zero_work_close(&work);
    train_all(how);
    return 0;
}
