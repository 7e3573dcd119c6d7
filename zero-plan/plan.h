/* SPDX-License-Identifier: MIT
 * plan.h: what zero-plan finds out, before anything is printed. Every number of a stage comes from
 * lab 08's solution (layout, schedule, ledger); the times are the machine's on top of it.
 */
#ifndef ZERO_PLAN_PLAN_H
#define ZERO_PLAN_PLAN_H

#include "gpt.h"
#include "machine.h"

#define PLAN_STAGES 8 /* 0 to 3, and the same with offload */
#define PLAN_GRANULE 512

struct question {
    struct gpt model;
    struct machine machine;
    int gpus;
    uint64_t align, bucket_bytes;
    enum recompute recompute;
};

struct stage {
    int stage, offload, fits;
    uint64_t at_peak[ZERO_KINDS]; /* by kind, at the moment of the peak */
    uint64_t states, peak, host;  /* bytes a GPU; host: pinned, for each GPU */
    char misses[96];              /* what would not fit first; empty when all fits */
    uint64_t sent, bus;           /* bytes a GPU and step: to its neighbour, over PCIe */
    double compute_s;             /* forward, backward, update */
    double comm_s;                /* all communication, one after the other */
    double overlapped_s;          /* the whole step with communication beside the computation */
    uint64_t ahead;               /* stage 3 overlapped holds one gathered layer more */
};

struct plan {
    struct question asked;
    uint64_t params;
    int tensors, layers;
    struct stage stage[PLAN_STAGES];
    int best; /* index of the first that fits; -1: none */
};

/* LAB_OK, or what the lab's functions say. */
int plan_make(const struct question *q, struct plan *plan);

/* time.c: the step's times of a schedule; fills in the stage's. LAB_OK, or LAB_ENOMEM. */
int plan_time(const struct question *q, const struct zero_model *model,
              const struct zero_work *work, struct stage *stage);

#endif
