/* SPDX-License-Identifier: MIT
 * time.c: how long a step takes. Two lanes, one that computes and one that communicates, follow the
 * lab's schedule: what an operation needs must have ended, and each lane does one thing at a time.
 *
 * Not overlapped is the sum of everything. Overlapped, stage 3 gathers one layer ahead, gradients
 * travel during the backward, and each unit's all-gather follows its update.
 */
#include "plan.h"

#include <stdbool.h>
#include <stdlib.h>

struct lanes {
    const struct question *q;
    const struct zero_model *model;
    const struct zero_work *work;
    const uint64_t *layer_params; /* of each layer */
    double *arrived;              /* of each unit: when its communication ends */
    double compute, comm;         /* when each lane is free */
    double began;                 /* when the last layer's computation began */
    double busy_compute, busy_comm;
};

/* 2 flops a parameter and token in the forward, 4 in the backward, and the forward once more when
 * it is recomputed. Attention's own flops are left out. */
static double layer_s(const struct lanes *l, const struct zero_op *op)
{
    double tokens = (double)(l->q->model.batch * l->q->model.sequence);
    int times = op->what == ZERO_FORWARD ? 2 : l->q->recompute == RECOMPUTE_FULL ? 6 : 4;
    return times * (double)l->layer_params[op->index] * tokens / l->q->machine.flops;
}

/* Adam reads gradient and three states and writes the states and the parameter: 28 bytes. On the
 * host only the bus is counted. */
static double update_s(const struct lanes *l, const struct zero_unit *unit)
{
    if (l->work->layout.how.offload)
        return 0;
    return 28 * (double)unit->shard / l->q->machine.local_bytes_s;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Something for the computing lane that needs what came at `needs`. */
static void compute(struct lanes *l, double needs, double seconds)
{
    l->began = later(l->compute, needs);
    l->compute = l->began + seconds;
    l->busy_compute += seconds;
}

static double send(struct lanes *l, double needs, double seconds)
{
    l->comm = later(l->comm, needs) + seconds;
    l->busy_comm += seconds;
    return l->comm;
}

static double all_arrived(const struct lanes *l, int layer)
{
    double last = 0;
    if (l->work->layout.how.stage < 3)
        return 0;
    for (int u = layer; u < l->work->layout.units; u++) { /* a unit a layer in stage 3 */
        if (l->work->layout.unit[u].first_layer > layer)
            break;
        if (l->work->layout.unit[u].first_layer == layer)
            last = later(last, l->arrived[u]);
    }
    return last;
}

static void see(struct lanes *l, const struct zero_op *op)
{
    int n = l->q->gpus, stage3 = l->work->layout.how.stage == 3;
    double bytes = (double)op->bytes;
    switch (op->what) {
    case ZERO_FORWARD:
    case ZERO_BACKWARD:
        compute(l, all_arrived(l, op->index), layer_s(l, op));
        break;
    case ZERO_ALL_REDUCE:
    case ZERO_REDUCE_SCATTER:
        l->arrived[op->index] =
            send(l, l->compute,
                 machine_ring_s(&l->q->machine, n, bytes, op->what == ZERO_ALL_REDUCE ? 2 : 1));
        break;
    case ZERO_ALL_GATHER: /* stage 3: not before the layer in front of it has begun */
        l->arrived[op->index] =
            send(l, stage3 ? l->began : later(l->compute, l->arrived[op->index]),
                 machine_ring_s(&l->q->machine, n, bytes, 1));
        break;
    case ZERO_UPDATE:
        compute(l, l->arrived[op->index], update_s(l, &l->work->layout.unit[op->index]));
        break;
    case ZERO_TO_HOST:
    case ZERO_TO_GPU:
        l->arrived[op->index] =
            send(l, later(l->compute, l->arrived[op->index]), bytes / l->q->machine.pcie_bytes_s);
        break;
    default:
        break;
    }
}

int plan_time(const struct question *q, const struct zero_model *model,
              const struct zero_work *work, struct stage *stage)
{
    uint64_t *params = calloc((size_t)model->layers, sizeof *params);
    struct lanes l = {q, model, work, params, NULL, 0, 0, 0, 0, 0};
    l.arrived = calloc((size_t)work->layout.units, sizeof *l.arrived);
    bool good = params && l.arrived;
    for (int t = 0; good && t < model->tensors; t++)
        params[model->tensor[t].layer] += model->tensor[t].count;
    for (int i = work->schedule.step; good && i < work->schedule.count; i++)
        see(&l, &work->schedule.op[i]);
    stage->compute_s = l.busy_compute;
    stage->comm_s = l.busy_comm;
    stage->overlapped_s = later(l.compute, l.comm);
    free(params);
    free(l.arrived);
    return good ? LAB_OK : LAB_ENOMEM;
}
