/* SPDX-License-Identifier: MIT
 * engine.c: see engine.h. The set-up of a copy (its latency) overlaps with other copies, so a copy
 * takes its engine only when its bytes can flow.
 */
#include "engine.h"

#include <stddef.h>

#include "op_costs.h"

static enum copy_kind copy_kind_of(const struct op *op)
{
    if (op->from < 0)
        return FROM_HOST;
    if (op->to < 0)
        return TO_HOST;
    return op->from == op->to ? INSIDE : op->to == op->device ? FROM_PEER : TO_PEER;
}

/* The GPU whose engine the copy uses: the stream's GPU if it is the source or destination. Copies
 * that a graph makes between other GPUs use those GPUs' engines, wherever the graph was launched.
 */
static int engine_owner(const struct op *op)
{
    if (op->from < 0)
        return op->to;
    return op->to < 0 || op->device != op->to ? op->from : op->to;
}

/* NULL: the copy uses no engine, or any number of copies may run. */
static struct copy_engine *engine_of(struct engines *e, const struct op *op)
{
    if (op->kind != OP_COPY || e->topology->copies_at_once == 0 || (op->from < 0 && op->to < 0))
        return NULL;
    return &e->engine[engine_owner(op)][copy_kind_of(op)];
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
        e->first = next->clock.next_copy; /* the engine stays busy with the next copy */
    else if (e)
        e->busy--;
    return next;
}
