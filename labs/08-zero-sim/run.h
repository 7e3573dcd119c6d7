/* SPDX-License-Identifier: MIT
 * run.h: the plan, run: the contract of the second half of zero.c, and what comes with it (run.c,
 * net.cu). What is planned in lab08.h is done here, operation by operation, on a GPU for each
 * rank, with lab 07's collectives, on a network that is small enough to look at every number.
 *
 * The network: inputs -> hidden (ReLU) -> outputs, half the squared error, Adam. Its two layers are
 * four tensors, fc1.weight, fc1.bias, fc2.weight, fc2.bias. Each rank has its own samples of the
 * batch.
 *
 * Rules for every function here:
 * - The result is LAB_OK (0) or one of the LAB_E... of lab.h. A CUDA call that fails ends the
 *   function with ring_result's code, LAB_ECUDA for most. LAB_EINVAL: a null pointer.
 * - Work is queued on the rank's stream, run->ring.rank[r].stream; only cudaFree
 * waits for it.
 * - The current device may be another one afterwards.
 */
#ifndef LAB08_RUN_H
#define LAB08_RUN_H

#include "lab07.h"
#include "lab08.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ZERO_TENSORS 4 /* and so at most as many units */
#define ZERO_LAYERS 2

struct zero_net {
    int inputs, hidden, outputs; /* 13, 17, 5 */
    int batch;                   /* samples of all ranks together, a multiple of the ranks; 24 */
    uint32_t seed;               /* of the samples and of the first parameters */
};

struct zero_rank {
    int gpu; /* ranks may share one */
    int first_sample, samples;
    /* What is allocated, of each kind for each unit (of ZERO_ACTIVATION: for each layer); NULL: it
     * is not. Under offload the fp32 states are pinned host memory, the rest is the GPU's. */
    void *at[ZERO_KINDS][ZERO_TENSORS];
    /* Offload: room for a unit's shard in fp16, pinned: gradients on their way to the host,
     * parameters on their way back. Else NULL. */
    void *halves[ZERO_TENSORS];
    float *input, *target, *output; /* the GPU's: samples of `inputs`, `outputs`, `outputs` */
};

struct zero_run {
    struct zero_net net;
    struct zero_model model;
    struct zero_work work; /* layout and schedule */
    struct ring ring;      /* rank r of the ring is rank r here */
    struct zero_rank rank[RING_RANKS];
    struct zero_ledger gpu, host; /* what is allocated now, in GPU memory and pinned */
    int steps;                    /* that are over */
    int failed;                   /* the operation that failed; -1: none */
    struct zero_tensor tensor[ZERO_TENSORS];
    uint64_t activation_bytes[ZERO_LAYERS];
    uint64_t others_bytes; /* of each rank, not in the ledger: samples, the ring's inboxes */
};

/* ---- what you write, in zero.c: the run ---- */

struct zero_place {
    void *whole; /* all elements of the unit, padding included */
    void *owned; /* what this rank owns of it: `shard` elements; in stage 0 the whole */
};

/* 6. Where a unit's parameters (kind ZERO_PARAM) or gradients (ZERO_GRAD) are on a rank. The whole
 * of what is cut in this stage is where it is gathered, or the bucket; NULL while that is not
 * allocated. What is owned is an allocation of its own where it is cut, else a part of the whole,
 * so that nothing is copied from one to the other; NULL, like the whole, while that is not
 * allocated. LAB_EINVAL: another kind, a rank or unit that is not there. */
int zero_place(const struct zero_run *run, int rank, enum zero_kind kind, int unit,
               struct zero_place *place);

/* Does a ZERO_ALLOC or ZERO_FREE on every rank: at[kind][index] is op->bytes of GPU memory, or with
 * op->host of pinned host memory, and the ledger of either kind knows. LAB_ENOMEM: a rank has no
 * room; the other ranks' allocations of this operation are given back then, and no ledger has
 * changed but for its peaks. When a ZERO_FREE fails, the ranks before have given theirs back, and
 * their ledgers know. LAB_EINVAL: another operation. */
int zero_memory(struct zero_run *run, const struct zero_op *op);

/* Does a ZERO_ALL_REDUCE or ZERO_REDUCE_SCATTER: afterwards zero_place's `owned` gradients of every
 * rank are sums over all ranks. LAB_EINVAL: another operation, a unit that is not there. */
int zero_reduce(struct zero_run *run, const struct zero_op *op);

/* One training step: op[step .. count) of the schedule, each by zero_perform. When an operation
 * fails the step ends, run->failed says which one, and its error is returned; else run->steps has
 * grown by 1. LAB_EINVAL: a run that is not open, which is all zero. */
int zero_step(struct zero_run *run);

/* 7. Does a ZERO_ALL_GATHER: afterwards zero_place's `whole` parameters are complete on every rank.
 * In stages 1 and 2 they lie where the owned ones are; in stage 3 the owned ones come first.
 * LAB_EINVAL: another operation, a unit that is not there. */
int zero_gather(struct zero_run *run, const struct zero_op *op);

/* Does a ZERO_TO_HOST (owned gradients into halves[unit]) or ZERO_TO_GPU (halves[unit] to the owned
 * parameters) on every rank. LAB_EINVAL: another operation, a unit that is not there, or no
 * offload. */
int zero_bus(struct zero_run *run, const struct zero_op *op);

/* ---- comes with the lab (run.c, net.cu) ---- */

/* Plans `net` on GPUs 0 .. how->ranks - 1 and allocates what is not in the schedule: the ring's
 * streams and inboxes, samples. Where there are only g GPUs rank r has GPU r % g, which it shares.
 * The ledgers' granule is 512. LAB_EINVAL, LAB_ENOGPU, LAB_ENOMEM; nothing is left then. */
int zero_run_open(struct zero_run *run, const struct zero_net *net, const struct zero_how *how);

/* Does op[0 .. step) of the schedule, and writes the first parameters. On an error run->failed says
 * where; zero_run_close is still the caller's to call. */
int zero_run_start(struct zero_run *run);
void zero_run_close(struct zero_run *run); /* frees whatever is there; zeros are fine */

/* Does one operation: calls zero_memory, zero_reduce, zero_gather, zero_bus, or for every rank
 * net_forward, net_backward, net_update. LAB_EINVAL: there is no such operation. */
int zero_perform(struct zero_run *run, const struct zero_op *op);

/* zero_place's `whole` of every rank: the buffers that lab 07's functions want. */
int zero_wholes(const struct zero_run *run, enum zero_kind kind, int unit, void *whole[RING_RANKS]);

/* Queues a copy on a rank's stream, between whichever memories. */
int zero_copy(const struct zero_run *run, int rank, void *to, const void *from, uint64_t bytes);

/* Queue one rank's part of a layer, or of a unit's update. They read zero_place's whole parameters,
 * write its whole gradients; the update reads owned gradients and states, writes states and owned
 * parameters. Under offload the update is the host's: it waits for the rank's stream, reads
 * halves[unit] and writes it. LAB_EINVAL where one of these is missing. */
int net_forward(struct zero_run *run, int rank, int layer);
int net_backward(struct zero_run *run, int rank, int layer);
int net_update(struct zero_run *run, int rank, int unit);

/* fp32 to fp16, to nearest, in host memory. */
void zero_halves(const float *from, void *to, uint64_t count);

/* The loss of the last forward, over all ranks' samples. Waits. */
int zero_run_loss(struct zero_run *run, double *loss);

/* The model's parameters, master copies or gradients (as last reduced), element by element in the
 * model's order, from their owners. `whole` is 2 or 4 bytes times the model's parameters. Waits. */
int zero_run_read(struct zero_run *run, enum zero_kind kind, void *whole);

#ifdef __cplusplus
}
#endif
#endif
