/* SPDX-License-Identifier: MIT
 * engine.c: see engine.h. What sets a copy up (its latency) goes on while another one is carried
 * out: a copy asks for its engine when its bytes could flow.
 */
#include "engine.h"

#include <stddef.h>

#include "op_costs.h"

static enum copy_kind kind_of(const struct op *op, int from, int to)
{
    if (from < 0)
        return FROM_HOST;
    if (to < 0)
        return TO_HOST;
    return from == to ? INSIDE : to == op->device ? FROM_PEER : TO_PEER;
}

/* Whose engine: the stream's GPU, if the copy is any of its business. What a graph copies for other
 * GPUs is theirs, wherever the graph was launched. */
static int engine_owner(const struct op *op, int from, int to)
{
    if (from < 0)
        return to;
    return to < 0 || op->device != to ? from : to;
}

/* NULL: no engine is needed, or all copies share one. Asked once: what the copy's addresses
 * mean is over when their process is. */
static struct copy_engine *engine_of(struct engines *e, const struct op *op)
{
    int from, to;
    if (op->kind != OP_COPY || e->topology->copies_at_once == 0)
        return NULL;
    copy_ends(op, &from, &to);
    return from < 0 && to < 0 ? NULL
                              : &e->engine[engine_owner(op, from, to)][kind_of(op, from, to)];
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
