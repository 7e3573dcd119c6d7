/* SPDX-License-Identifier: MIT
 * spread.h: what is beside ZeRO's stages: DDP's all-reduce, and data x tensor x pipeline parallel.
 */
#ifndef ZERO_PLAN_SPREAD_H
#define ZERO_PLAN_SPREAD_H

#include "plan.h"

#define DDP_GPUS 8
#define DDP_ROWS 3

struct ddp_row {
    double params, bytes;
    double source_s;   /* what is often printed for 8 H100: bytes / 450 GB/s */
    double bound_s;    /* 2 (N - 1) / N times that: no ring is faster */
    double one_call_s; /* on this machine's links */
    double buckets_s;  /* the same, bucket by bucket */
};

void spread_ddp(const struct question *q, struct ddp_row row[DDP_ROWS]);

#define SPLITS_MOST 256

struct split {
    int data, tensor, pipeline;
    uint64_t states, activations; /* bytes a GPU, with stage 1 over the data parallel ranks */
    int fits;
    double tensor_bytes, pipeline_bytes, data_bytes; /* sent a GPU and step */
    double bubble;                                   /* of the step's computing time, idle */
    double step_s;
};

/* Every split of the GPUs into powers of two; those that fit first, the fastest first. How many. */
int spread_splits(const struct question *q, uint64_t params, struct split split[SPLITS_MOST]);

#endif
