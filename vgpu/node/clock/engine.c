/* SPDX-License-Identifier: MIT
 * engine.c: see engine.h. What sets a copy up (its latency) goes on while another one is carried
 * out: a copy asks for its engine when its bytes could flow.
 */
#include "engine.h"

#include <stddef.h>

#include "op_costs.h"

static enum copy_kind kind_of(const struct op *op)
{
    if (op->from < 0)
        return FROM_HOST;
    if (op->to < 0)
        return TO_HOST;
    return op->from == op->to ? INSIDE : op->to == op->device ? FROM_PEER : TO_PEER;
}

/* Whose engine: the stream's GPU, if the copy is any of its business. What a graph copies for other
 * GPUs is theirs, wherever the graph was launched. */
static int engine_owner(const struct op *op)
{
    if (op->from < 0)
        return op->to;
    return op->to < 0 || op->device != op->to ? op->from : op->to;
}

/* NULL: no engine is needed, or all copies share one. */
static struct copy_engine *engine_of(struct engines *e, const struct op *op)
{
    if (op->kind != OP_COPY || e->topology->copies_at_once == 0 || (op->from < 0 && op->to < 0))
        return NULL;
    return &e->engine[engine_owner(op)][kind_of(op)];
}

bool engines_take(struct engines *engines, struct op *op)
{
    struct copy_engine *e = op->clock.engine = engine_of(engines, op);
    if (!e)
        return true;
    if (e->busy < engines->topology->copies_at_once) {
        e->busy++;
        return true;
    }
    op->clock.next_copy = NULL;
    if (!e->first)
        e->last = &e->first;
    *e->last = op;
    e->last = &op->clock.next_copy;
    return false;
}

struct op *engines_leave(struct op *op)
{
    struct copy_engine *e = op->clock.engine;
    struct op *next = e ? e->first : NULL;
    if (next)
        e->first = next->clock.next_copy; /* the engine goes from hand to hand */
    else if (e)
        e->busy--;
    return next;
}
