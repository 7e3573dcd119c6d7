/* SPDX-License-Identifier: MIT
 * referee.h: watches a schedule go by and says which rule it breaks. It knows the rules, not the
 * order in which the reference writes operations down.
 */
#ifndef LAB08_REFEREE_H
#define LAB08_REFEREE_H

#include "common.h"

struct referee {
    struct lab_test *t;
    const struct plan_in *in;
    const struct schedule_out *out;
    char call[240];
    int at; /* number of the operation */
    int live[ZERO_KINDS][IO_TENSORS];
    int forwarded, backwarded; /* layers */
    int gathered[IO_TENSORS], reduced[IO_TENSORS], updated[IO_TENSORS], spread[IO_TENSORS];
    int on_host[IO_TENSORS], back[IO_TENSORS];
};

/* Operation number r->at breaks a rule. */
#define rule(r, holds, ...)                                                                        \
    do {                                                                                           \
        char why__[240];                                                                           \
        snprintf(why__, sizeof why__, __VA_ARGS__);                                                \
        lab_expect((r)->t, holds, "%s, op[%d]: %s", (r)->call, (r)->at, why__);                    \
    } while (0)

static inline const struct zero_unit *unit_of(const struct referee *r, int u)
{
    rule(r, u >= 0 && u < r->out->layout.units, "there is no unit %d", u);
    return &r->out->unit[u];
}

static inline int has_activation(const struct referee *r, int layer)
{
    return r->in->model.counted && r->in->model.activation_bytes[layer] > 0;
}

static inline uint64_t want_bytes(const struct referee *r, enum zero_kind kind, int index)
{
    static const int cut_at[] = {3, 2, 1, 1, 1, 9, 9};
    if (kind == ZERO_ACTIVATION)
        return r->in->model.activation_bytes[index];
    const struct zero_unit *u = unit_of(r, index);
    uint64_t size = kind >= ZERO_MASTER && kind <= ZERO_VARIANCE ? 4 : 2;
    return size * (r->in->how.stage >= cut_at[kind] ? u->shard : u->padded);
}

/* ---- memory ---- */

static inline void see_memory(struct referee *r, const struct zero_op *op)
{
    int alloc = op->what == ZERO_ALLOC;
    rule(r, (int)op->kind >= 0 && op->kind < ZERO_KINDS, "there is no kind %d", (int)op->kind);
    if (op->kind == ZERO_ACTIVATION)
        rule(r, op->index >= 0 && op->index < r->in->model.layers && has_activation(r, op->index),
             "layer %d has no activations", op->index);
    uint64_t want = want_bytes(r, op->kind, op->index);
    int host = r->in->how.offload && op->kind >= ZERO_MASTER && op->kind <= ZERO_VARIANCE;
    rule(r, op->bytes == want, "kind %d of %d has %" PRIu64 " bytes, expected %" PRIu64,
         (int)op->kind, op->index, op->bytes, want);
    rule(r, op->host == host, "kind %d lies %s, expected %s", (int)op->kind,
         op->host ? "on the host" : "on the GPU", host ? "on the host" : "on the GPU");
    rule(r, r->live[op->kind][op->index] != alloc, "kind %d of %d is %s", (int)op->kind, op->index,
         alloc ? "allocated already" : "freed and was not allocated");
    rule(r, (op->kind <= ZERO_VARIANCE) == (r->at < r->out->step),
         "what is resident is allocated once, before the step, and what is not, within it");
    r->live[op->kind][op->index] = alloc;
    if (op->kind == ZERO_GATHERED)
        r->gathered[op->index] = 0;
}

/* The layer whose backward went last, or the number of layers. */
static inline int reached(const struct referee *r)
{
    return r->in->model.layers - r->backwarded;
}

/* What must be there while a layer runs (`layer`, else -1), and nothing else. */
static inline void see_live(struct referee *r, int layer)
{
    int stage = r->in->how.stage,
        low = layer >= 0 && r->forwarded == r->in->model.layers ? layer : reached(r);
    for (int l = 0; l < r->in->model.layers; l++) {
        int want = has_activation(r, l) && l < r->forwarded + (layer >= r->forwarded) &&
                   (l < reached(r) || l == layer);
        rule(r, r->live[ZERO_ACTIVATION][l] == want, "the activations of layer %d are %s", l,
             want ? "not there" : "there: too early, or not freed after the layer's backward");
    }
    for (int u = 0; u < r->out->layout.units; u++) {
        const struct zero_unit *unit = &r->out->unit[u];
        int mine = layer >= unit->first_layer && layer <= unit->last_layer;
        int gathered = stage == 3 && mine;
        int bucket = stage >= 2 && unit->last_layer >= low && !r->reduced[u];
        rule(r, r->live[ZERO_GATHERED][u] == gathered, "the gathered parameters of unit %d are %s",
             u, gathered ? "not there" : "there: allocated too early or freed too late");
        rule(r, r->live[ZERO_BUCKET][u] == bucket, "the bucket of unit %d is %s", u,
             bucket ? "not there: freed before it was reduced?"
                    : "there: allocated too early or freed too late");
        if (gathered)
            rule(r, r->gathered[u], "unit %d is used and was not gathered", u);
    }
}

/* ---- layers ---- */

static inline void see_forward(struct referee *r, int layer)
{
    rule(r, r->backwarded == 0 && layer == r->forwarded, "forward of layer %d, expected %s %d next",
         layer, r->forwarded < r->in->model.layers ? "that of layer" : "no further one after layer",
         r->forwarded);
    see_live(r, layer);
    r->forwarded++;
}

static inline void see_backward(struct referee *r, int layer)
{
    int want = reached(r) - 1;
    rule(r, r->forwarded == r->in->model.layers, "backward before the forward is through");
    rule(r, layer == want, "backward of layer %d, expected that of layer %d next", layer, want);
    for (int u = 0; u < r->out->layout.units; u++)
        rule(r, r->reduced[u] || r->out->unit[u].first_layer <= want,
             "unit %d is complete and must be reduced before the next layer's backward", u);
    see_live(r, layer);
    r->backwarded++;
}

/* ---- units ---- */

static inline void see_reduce(struct referee *r, const struct zero_op *op)
{
    const struct zero_unit *u = unit_of(r, op->index);
    enum zero_what want = r->in->how.stage ? ZERO_REDUCE_SCATTER : ZERO_ALL_REDUCE;
    rule(r, op->what == want, "stage %d %s its gradients", r->in->how.stage,
         want == ZERO_ALL_REDUCE ? "all-reduces" : "reduce-scatters");
    rule(r, op->bytes == 2 * u->padded, "reduces %" PRIu64 " bytes, expected %" PRIu64, op->bytes,
         2 * u->padded);
    rule(r, r->backwarded > 0 && u->first_layer == reached(r),
         "unit %d is reduced, expected right behind the backward of its first layer, which is %d",
         op->index, u->first_layer);
    rule(r, !r->reduced[op->index], "unit %d is reduced twice", op->index);
    for (int v = op->index + 1; v < r->out->layout.units; v++)
        rule(r, r->reduced[v], "unit %d is reduced before unit %d", op->index, v);
    see_live(r, -1);
    r->reduced[op->index] = 1;
}

static inline void see_gather(struct referee *r, const struct zero_op *op)
{
    const struct zero_unit *u = unit_of(r, op->index);
    int stage = r->in->how.stage;
    rule(r, stage > 0, "stage 0 has all parameters everywhere and gathers nothing");
    rule(r, op->bytes == 2 * u->padded, "gathers %" PRIu64 " bytes, expected %" PRIu64, op->bytes,
         2 * u->padded);
    if (stage == 3) {
        rule(r, r->live[ZERO_GATHERED][op->index], "unit %d is gathered into nothing", op->index);
        rule(r, !r->gathered[op->index], "unit %d is gathered twice", op->index);
        rule(r, r->backwarded < r->in->model.layers,
             "stage 3 gathers before use, not after the update");
        r->gathered[op->index] = 1;
        return;
    }
    rule(r, r->updated[op->index] && (!r->in->how.offload || r->back[op->index]),
         "unit %d is gathered before its update (or before the update is back from the host): the "
         "others get old parameters",
         op->index);
    rule(r, !r->spread[op->index], "unit %d is gathered twice", op->index);
    r->spread[op->index] = 1;
}

static inline void see_update(struct referee *r, const struct zero_op *op)
{
    unit_of(r, op->index);
    rule(r, r->backwarded == r->in->model.layers, "update before the backward is through");
    rule(r, r->reduced[op->index], "unit %d is updated with gradients that are not reduced",
         op->index);
    rule(r, !r->in->how.offload || r->on_host[op->index],
         "unit %d is updated on the host before its gradients are there", op->index);
    rule(r, !r->updated[op->index], "unit %d is updated twice", op->index);
    for (int v = 0; v < op->index; v++)
        rule(r, r->updated[v], "unit %d is updated before unit %d", op->index, v);
    see_live(r, -1);
    r->updated[op->index] = 1;
}

static inline void see_bus(struct referee *r, const struct zero_op *op)
{
    const struct zero_unit *u = unit_of(r, op->index);
    int *done = op->what == ZERO_TO_HOST ? r->on_host : r->back;
    rule(r, r->in->how.offload, "nothing goes over the bus without offload");
    rule(r, op->bytes == 2 * u->shard, "moves %" PRIu64 " bytes, expected %" PRIu64, op->bytes,
         2 * u->shard);
    rule(r, op->what == ZERO_TO_HOST ? r->reduced[op->index] : r->updated[op->index],
         "unit %d is moved too early", op->index);
    rule(r, !done[op->index], "unit %d is moved twice", op->index);
    done[op->index] = 1;
}

static inline void see_op(struct referee *r, const struct zero_op *op)
{
    rule(r, r->at >= r->out->step || op->what == ZERO_ALLOC,
         "before the step there are allocations and nothing else");
    switch (op->what) {
    case ZERO_ALLOC:
    case ZERO_FREE:
        see_memory(r, op);
        return;
    case ZERO_FORWARD:
        see_forward(r, op->index);
        return;
    case ZERO_BACKWARD:
        see_backward(r, op->index);
        return;
    case ZERO_ALL_REDUCE:
    case ZERO_REDUCE_SCATTER:
        see_reduce(r, op);
        return;
    case ZERO_ALL_GATHER:
        see_gather(r, op);
        return;
    case ZERO_UPDATE:
        see_update(r, op);
        return;
    case ZERO_TO_HOST:
    case ZERO_TO_GPU:
        see_bus(r, op);
        return;
    }
    rule(r, 0, "there is no operation %d", (int)op->what);
}

/* ---- the whole ---- */

static inline void see_start(struct referee *r)
{
    int units = r->out->layout.units;
    rule(r, r->out->step == 5 * units,
         "%d resident allocations before the step begins, expected one of each kind for each "
         "unit: %d",
         r->out->step, 5 * units);
    for (int i = 0; i < r->out->step; i++)
        rule(r, (int)r->out->op[i].kind == i / units && r->out->op[i].index == i % units,
             "resident allocation %d is kind %d of unit %d, expected kind by kind, unit by unit", i,
             (int)r->out->op[i].kind, r->out->op[i].index);
}

static inline void see_end(struct referee *r)
{
    int stage = r->in->how.stage;
    rule(r, r->backwarded == r->in->model.layers,
         "the schedule ends before the backward is through");
    for (int u = 0; u < r->out->layout.units; u++) {
        rule(r, r->updated[u], "unit %d is never updated", u);
        rule(r, (stage != 1 && stage != 2) || r->spread[u],
             "unit %d is never gathered after its update: the next forward uses old parameters", u);
        rule(r, !r->in->how.offload || r->back[u], "unit %d never comes back from the host", u);
    }
    see_live(r, -1);
}

static inline void check_schedule_of(struct lab_test *t, const struct plan_in *in)
{
    struct lab_run *run = lab_run(t, "schedule", in, sizeof *in, sizeof(struct schedule_out));
    struct referee r = {.t = t, .in = in, .out = lab_output(run)};
    describe(&in->how, "zero_schedule", r.call, sizeof r.call);
    expect_rc(t, r.call, r.out->rc, LAB_OK);
    lab_expect(t, r.out->count >= 0 && r.out->count <= IO_OPS && r.out->step <= r.out->count,
               "%s: count is %d, step %d", r.call, r.out->count, r.out->step);
    see_start(&r);
    for (r.at = 0; r.at < r.out->count; r.at++)
        see_op(&r, &r.out->op[r.at]);
    see_end(&r);
}

#endif
