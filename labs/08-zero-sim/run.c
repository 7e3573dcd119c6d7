/* SPDX-License-Identifier: MIT
 * run.c: comes with lab 08: what is around the schedule: samples, the first parameters, and reading
 * what became of them.
 */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

#define GRANULE 512

/* ---- the model ---- */

static void name_tensor(struct zero_run *run, int t, const char *name, uint64_t count)
{
    struct zero_tensor *tensor = &run->tensor[t];
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->count = count;
    tensor->layer = t / 2;
}

/* The outputs lie with the samples: only the hidden layer has activations of its own. */
static void make_model(struct zero_run *run, int ranks)
{
    const struct zero_net *net = &run->net;
    uint64_t hidden = (uint64_t)net->hidden, samples = (uint64_t)(net->batch / ranks);
    name_tensor(run, 0, "fc1.weight", hidden * (uint64_t)net->inputs);
    name_tensor(run, 1, "fc1.bias", hidden);
    name_tensor(run, 2, "fc2.weight", hidden * (uint64_t)net->outputs);
    name_tensor(run, 3, "fc2.bias", (uint64_t)net->outputs);
    run->activation_bytes[0] = samples * hidden * sizeof(float);
    run->model = (struct zero_model){run->tensor, ZERO_TENSORS, ZERO_LAYERS, run->activation_bytes};
}

static int check(const struct zero_net *net, const struct zero_how *how)
{
    if (!net || !how || net->inputs < 1 || net->hidden < 1 || net->outputs < 1 || net->batch < 1 ||
        how->ranks < 1 || how->ranks > RING_RANKS || net->batch % how->ranks != 0)
        return LAB_EINVAL;
    return LAB_OK;
}

/* ---- opening ---- */

/* Ranks go around the GPUs: with fewer of them than ranks, some share one. */
static int gpu_of(int rank)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n < 1) {
        cudaGetLastError(); /* no driver and no device are 0 GPUs (lab 01) */
        return 0;
    }
    return rank % n;
}

static int upload(float **to, uint64_t count, uint32_t first, float (*value)(uint32_t, uint32_t),
                  uint32_t seed)
{
    float *from = malloc(count * sizeof *from);
    void *at = NULL;
    if (!from)
        return LAB_ENOMEM;
    for (uint64_t i = 0; i < count; i++)
        from[i] = value(seed, first + (uint32_t)i);
    int rc = ring_result(cudaMalloc(&at, count * sizeof *from));
    *to = at;
    if (rc == LAB_OK)
        rc = ring_result(cudaMemcpy(at, from, count * sizeof *from, cudaMemcpyHostToDevice));
    free(from);
    return rc;
}

static uint64_t rounded_up(uint64_t bytes)
{
    return (bytes + GRANULE - 1) / GRANULE * GRANULE;
}

static int open_rank(struct zero_run *run, int r)
{
    struct zero_rank *me = &run->rank[r];
    const struct zero_net *net = &run->net;
    uint64_t in, out;
    void *output = NULL;
    int rc;
    me->gpu = run->ring.rank[r].gpu;
    me->samples = net->batch / run->ring.n;
    me->first_sample = r * me->samples;
    in = (uint64_t)me->samples * (uint64_t)net->inputs;
    out = (uint64_t)me->samples * (uint64_t)net->outputs;
    run->others_bytes =
        rounded_up(2 * run->ring.inbox_bytes) + rounded_up(4 * in) + 2 * rounded_up(4 * out);
    if ((rc = ring_result(cudaSetDevice(me->gpu))) ||
        (rc = upload(&me->input, in, (uint32_t)(r * (int)in), data_input, net->seed)) ||
        (rc = upload(&me->target, out, (uint32_t)(r * (int)out), data_target, net->seed)))
        return rc;
    rc = ring_result(cudaMalloc(&output, out * sizeof(float)));
    me->output = output;
    for (int u = 0; u < run->work.layout.units && run->work.layout.how.offload && !rc; u++)
        rc = ring_result(cudaHostAlloc(&me->halves[u], 2 * run->work.layout.unit[u].shard,
                                       cudaHostAllocPortable));
    return rc;
}

static int open_ring(struct zero_run *run, int ranks)
{
    int gpu[RING_RANKS];
    uint64_t most = 0;
    for (int r = 0; r < ranks; r++)
        gpu[r] = gpu_of(r);
    for (int u = 0; u < run->work.layout.units; u++)
        if (2 * run->work.layout.unit[u].padded > most)
            most = 2 * run->work.layout.unit[u].padded;
    return ring_open(&run->ring, gpu, ranks, most);
}

int zero_run_open(struct zero_run *run, const struct zero_net *net, const struct zero_how *how)
{
    int rc = check(net, how);
    if (rc || !run)
        return rc ? rc : LAB_EINVAL;
    memset(run, 0, sizeof *run);
    run->net = *net;
    run->failed = -1;
    run->gpu = run->host = (struct zero_ledger){.ranks = how->ranks, .granule_bytes = GRANULE};
    make_model(run, how->ranks);
    if (!(rc = zero_work_open(&run->model, &run->work)) &&
        !(rc = zero_layout(&run->model, how, &run->work.layout)) &&
        !(rc = zero_schedule(&run->model, &run->work.layout, &run->work.schedule)))
        rc = open_ring(run, how->ranks);
    for (int r = 0; r < how->ranks && !rc; r++)
        rc = open_rank(run, r);
    if (rc)
        zero_run_close(run);
    return rc;
}

/* ---- the first parameters ---- */

/* A unit's elements as fp32, the padding zero. */
static float *first_values(const struct zero_run *run, int u)
{
    const struct zero_unit *unit = &run->work.layout.unit[u];
    uint32_t at = 0;
    float *value = calloc(unit->padded, sizeof *value);
    for (int t = 0; t < unit->tensor; t++)
        at += (uint32_t)run->tensor[t].count;
    for (uint64_t i = 0; value && i < unit->count; i++)
        value[i] = data_parameter(run->net.seed, at + (uint32_t)i);
    return value;
}

static int fill_states(struct zero_run *run, int rank, int u, const float *value)
{
    const struct zero_layout *layout = &run->work.layout;
    uint64_t shard = layout->unit[u].shard, first = layout->how.stage ? (uint64_t)rank * shard : 0;
    struct zero_rank *me = &run->rank[rank];
    int rc = ring_result(
        cudaMemcpy(me->at[ZERO_MASTER][u], value + first, 4 * shard, cudaMemcpyDefault));
    for (int kind = ZERO_MOMENTUM; kind <= ZERO_VARIANCE && !rc; kind++) {
        if (layout->how.offload)
            memset(me->at[kind][u], 0, 4 * shard);
        else
            rc = ring_result(cudaMemset(me->at[kind][u], 0, 4 * shard));
    }
    return rc;
}

static int fill_params(struct zero_run *run, int rank, int u, const void *halves)
{
    const struct zero_layout *layout = &run->work.layout;
    uint64_t shard = layout->unit[u].shard;
    const char *from = halves;
    if (layout->how.stage == 3)
        from += 2 * shard * (uint64_t)rank;
    return ring_result(cudaMemcpy(run->rank[rank].at[ZERO_PARAM][u], from,
                                  layout->unit[u].bytes[ZERO_PARAM], cudaMemcpyHostToDevice));
}

static int fill_unit(struct zero_run *run, int u)
{
    uint64_t padded = run->work.layout.unit[u].padded;
    float *value = first_values(run, u);
    void *halves = calloc(padded, 2);
    int rc = value && halves ? LAB_OK : LAB_ENOMEM;
    if (!rc)
        zero_halves(value, halves, padded);
    for (int r = 0; r < run->ring.n && !rc; r++) {
        if ((rc = ring_result(cudaSetDevice(run->rank[r].gpu))) ||
            (rc = fill_states(run, r, u, value)) || (rc = fill_params(run, r, u, halves)) ||
            (rc = ring_result(cudaDeviceSynchronize())))
            break;
    }
    free(halves);
    free(value);
    return rc;
}

int zero_run_start(struct zero_run *run)
{
    int rc = LAB_OK;
    for (int i = 0; i < run->work.schedule.step; i++) {
        if ((rc = zero_memory(run, &run->work.schedule.op[i]))) {
            run->failed = i;
            return rc;
        }
    }
    for (int u = 0; u < run->work.layout.units && !rc; u++)
        rc = fill_unit(run, u);
    return rc;
}

/* ---- operations ---- */

int zero_wholes(const struct zero_run *run, enum zero_kind kind, int unit, void *whole[RING_RANKS])
{
    struct zero_place place;
    for (int r = 0; r < run->ring.n; r++) {
        int rc = zero_place(run, r, kind, unit, &place);
        if (rc)
            return rc;
        whole[r] = place.whole;
    }
    return LAB_OK;
}

int zero_copy(const struct zero_run *run, int rank, void *to, const void *from, uint64_t bytes)
{
    return ring_result(
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, run->ring.rank[rank].stream));
}

static int on_every_rank(struct zero_run *run, int (*work)(struct zero_run *, int, int), int index)
{
    int rc = LAB_OK;
    for (int r = 0; r < run->ring.n && !rc; r++)
        rc = work(run, r, index);
    return rc;
}

int zero_perform(struct zero_run *run, const struct zero_op *op)
{
    switch (op->what) {
    case ZERO_ALLOC:
    case ZERO_FREE:
        return zero_memory(run, op);
    case ZERO_FORWARD:
        return on_every_rank(run, net_forward, op->index);
    case ZERO_BACKWARD:
        return on_every_rank(run, net_backward, op->index);
    case ZERO_ALL_REDUCE:
    case ZERO_REDUCE_SCATTER:
        return zero_reduce(run, op);
    case ZERO_ALL_GATHER:
        return zero_gather(run, op);
    case ZERO_UPDATE:
        return on_every_rank(run, net_update, op->index);
    case ZERO_TO_HOST:
    case ZERO_TO_GPU:
        return zero_bus(run, op);
    }
    return LAB_EINVAL;
}

/* ---- closing ---- */

static void close_rank(struct zero_run *run, struct zero_rank *me)
{
    cudaSetDevice(me->gpu);
    for (int kind = 0; kind < ZERO_KINDS; kind++)
        for (int i = 0; i < ZERO_TENSORS; i++) {
            if (zero_on_host(&run->work.layout.how, (enum zero_kind)kind))
                cudaFreeHost(me->at[kind][i]);
            else
                cudaFree(me->at[kind][i]);
        }
    for (int i = 0; i < ZERO_TENSORS; i++)
        cudaFreeHost(me->halves[i]);
    cudaFree(me->input);
    cudaFree(me->target);
    cudaFree(me->output);
}

void zero_run_close(struct zero_run *run)
{
    int failed = run->failed;
    if (run->ring.n > 0)
        ring_wait(&run->ring);
    for (int r = 0; r < run->ring.n; r++)
        close_rank(run, &run->rank[r]);
    ring_close(&run->ring);
    zero_work_close(&run->work);
    cudaGetLastError();
    memset(run, 0, sizeof *run);
    run->failed = failed;
}

/* ---- reading ---- */

int zero_run_loss(struct zero_run *run, double *loss)
{
    double sum = 0;
    int rc = run && loss ? ring_wait(&run->ring) : LAB_EINVAL;
    for (int r = 0; r < run->ring.n && !rc; r++) {
        struct zero_rank *me = &run->rank[r];
        uint64_t count = (uint64_t)me->samples * (uint64_t)run->net.outputs;
        uint32_t first = (uint32_t)((uint64_t)r * count);
        float *output = malloc(count * sizeof *output);
        rc = output ? ring_result(
                          cudaMemcpy(output, me->output, count * sizeof *output, cudaMemcpyDefault))
                    : LAB_ENOMEM;
        for (uint64_t i = 0; i < count && !rc; i++) {
            double off = output[i] - data_target(run->net.seed, first + (uint32_t)i);
            sum += off * off / 2;
        }
        free(output);
    }
    if (!rc)
        *loss = sum / run->net.batch;
    return rc;
}

int zero_run_read(struct zero_run *run, enum zero_kind kind, void *whole)
{
    const struct zero_layout *layout = &run->work.layout;
    size_t size = kind == ZERO_MASTER ? 4 : 2;
    char *to = whole;
    int rc = ring_wait(&run->ring);
    for (int u = 0; u < layout->units && !rc; u++) {
        const struct zero_unit *unit = &layout->unit[u];
        for (int r = 0; r < (layout->how.stage ? run->ring.n : 1) && !rc; r++) {
            struct zero_place place = {NULL, run->rank[r].at[ZERO_MASTER][u]};
            uint64_t first = (uint64_t)r * unit->shard, len = 0;
            if (first < unit->count)
                len = unit->count - first < unit->shard ? unit->count - first : unit->shard;
            if (kind != ZERO_MASTER)
                rc = zero_place(run, r, kind, u, &place);
            if (!rc && len > 0)
                rc = ring_result(
                    cudaMemcpy(to + first * size, place.owned, len * size, cudaMemcpyDefault));
        }
        to += unit->count * size;
    }
    return rc;
}
