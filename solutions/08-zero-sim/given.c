/* SPDX-License-Identifier: MIT
 * given.c: comes with lab 08: checks, room for a plan, sums and names.
 */
#include "lab08.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int good_tensors(const struct zero_model *model)
{
    for (int t = 0; t < model->tensors; t++) {
        int before = t ? model->tensor[t - 1].layer : 0, layer = model->tensor[t].layer;
        if (model->tensor[t].count < 1 || layer < before || layer > before + (t > 0))
            return 0;
    }
    return model->tensor[model->tensors - 1].layer == model->layers - 1;
}

int zero_check(const struct zero_model *model, const struct zero_how *how)
{
    if (!model || !how || !model->tensor || model->tensors < 1 || model->layers < 1)
        return LAB_EINVAL;
    if (how->stage < 0 || how->stage > 3 || how->ranks < 1 || how->align < 1)
        return LAB_EINVAL;
    return good_tensors(model) ? LAB_OK : LAB_EINVAL;
}

/* ---- room ---- */

int zero_work_open(const struct zero_model *model, struct zero_work *work)
{
    struct zero_work made;
    if (!model || !work || model->tensors < 1 || model->layers < 1)
        return LAB_EINVAL;
    memset(&made, 0, sizeof made);
    made.layout.cap = model->tensors; /* a unit has one tensor or more */
    made.schedule.cap = 20 * model->tensors + 6 * model->layers;
    made.layout.unit = calloc((size_t)made.layout.cap, sizeof *made.layout.unit);
    made.schedule.op = calloc((size_t)made.schedule.cap, sizeof *made.schedule.op);
    if (!made.layout.unit || !made.schedule.op) {
        zero_work_close(&made);
        return LAB_ENOMEM;
    }
    *work = made;
    return LAB_OK;
}

void zero_work_close(struct zero_work *work)
{
    free(work->layout.unit);
    free(work->schedule.op);
    memset(work, 0, sizeof *work);
}

/* ---- sums ---- */

uint64_t zero_states(const struct zero_layout *layout)
{
    uint64_t sum = 0;
    for (int kind = ZERO_PARAM; kind <= ZERO_VARIANCE; kind++)
        sum += layout->bytes[kind];
    return sum;
}

uint64_t zero_traffic(const struct zero_schedule *s, int ranks)
{
    uint64_t sum = 0, n = (uint64_t)ranks;
    for (int i = s->step; i < s->count; i++) {
        const struct zero_op *op = &s->op[i];
        if (op->what == ZERO_REDUCE_SCATTER || op->what == ZERO_ALL_GATHER)
            sum += op->bytes / n * (n - 1) + op->bytes % n * (n - 1) / n;
        else if (op->what == ZERO_ALL_REDUCE)
            sum += op->bytes / n * (n - 1) * 2 + op->bytes % n * (n - 1) * 2 / n;
    }
    return sum;
}

/* ---- writing a schedule ---- */

int zero_on_host(const struct zero_how *how, enum zero_kind kind)
{
    return how->offload && kind >= ZERO_MASTER && kind <= ZERO_VARIANCE;
}

static void append(struct zero_schedule *s, struct zero_op op)
{
    if (s->count < s->cap)
        s->op[s->count] = op;
    s->count++;
}

void zero_put_memory(const struct zero_writer *w, enum zero_what what, enum zero_kind kind,
                     int index)
{
    struct zero_op op = {.what = what, .kind = kind, .index = index};
    if (kind != ZERO_ACTIVATION)
        op.bytes = w->layout->unit[index].bytes[kind];
    else if (w->model->activation_bytes)
        op.bytes = w->model->activation_bytes[index];
    op.host = zero_on_host(&w->layout->how, kind);
    if (op.bytes > 0)
        append(w->s, op);
}

void zero_put(const struct zero_writer *w, enum zero_what what, int index)
{
    struct zero_op op = {.what = what, .kind = ZERO_KINDS, .index = index};
    if (what == ZERO_TO_HOST || what == ZERO_TO_GPU)
        op.bytes = 2 * w->layout->unit[index].shard;
    else if (what == ZERO_ALL_REDUCE || what == ZERO_REDUCE_SCATTER || what == ZERO_ALL_GATHER)
        op.bytes = 2 * w->layout->unit[index].padded;
    append(w->s, op);
}

/* ---- names ---- */

const char *zero_kind_name(enum zero_kind kind)
{
    static const char *const names[] = {"parameters", "gradients",  "master copy",
                                        "momentum",   "variance",   "gathered parameters",
                                        "bucket",     "activations"};
    return (int)kind >= 0 && kind < ZERO_KINDS ? names[kind] : "?";
}

const char *zero_what_name(enum zero_what what)
{
    static const char *const names[] = {"allocate",    "free",           "forward",    "backward",
                                        "all-reduce",  "reduce-scatter", "all-gather", "update",
                                        "to the host", "to the GPU"};
    return (int)what >= 0 && what <= ZERO_TO_GPU ? names[what] : "?";
}

void zero_op_name(const struct zero_model *model, const struct zero_layout *layout,
                  const struct zero_op *op, char *text, int room)
{
    const char *what = op->kind < ZERO_KINDS ? zero_kind_name(op->kind) : zero_what_name(op->what);
    int of_layer =
        op->kind == ZERO_ACTIVATION || op->what == ZERO_FORWARD || op->what == ZERO_BACKWARD;
    if (of_layer || op->index < 0 || op->index >= layout->units) {
        snprintf(text, (size_t)room, "%s of layer %d", what, op->index);
        return;
    }
    const struct zero_unit *unit = &layout->unit[op->index];
    const char *first = model->tensor[unit->tensor].name;
    if (unit->tensors == 1)
        snprintf(text, (size_t)room, "%s of %s", what, first);
    else
        snprintf(text, (size_t)room, "%s of %s .. %s", what, first,
                 model->tensor[unit->tensor + unit->tensors - 1].name);
}
