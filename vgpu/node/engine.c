/* SPDX-License-Identifier: MIT
 * engine.c: see engine.h. What sets a copy up (its latency) goes on while another one is carried
 * out: a copy asks for its engine when its bytes could flow.
 */
#include "engine.h"

#include <stddef.h>

#include "sending.h"

enum kind { FROM_HOST, TO_HOST, TO_PEER, FROM_PEER, INSIDE, KINDS };

struct copy_engine {
    int busy;
    struct op *first, **last; /* those that wait, linked by next_copy; last: NULL when never used */
};

static const struct topology *topology;
static struct copy_engine engines[VGPU_MAX_DEVICES][KINDS];

void engine_start(const struct topology *t)
{
    topology = t;
}

static enum kind kind_of(const struct op *op, int from, int to)
{
    if (from < 0)
        return FROM_HOST;
    if (to < 0)
        return TO_HOST;
    return from == to ? INSIDE : to == op->device ? FROM_PEER : TO_PEER;
}

/* Whose engine: the stream's GPU, if the copy is any of its business. What a graph copies for other
 * GPUs is theirs, wherever the graph was launched. */
static int owner_of(const struct op *op, int from, int to)
{
    if (from < 0)
        return to;
    return to < 0 || op->device != to ? from : to;
}

/* NULL: no engine is needed, or there is one for everybody. Asked once: what the copy's addresses
 * mean is over when their process is. */
static struct copy_engine *engine_of(const struct op *op)
{
    int from, to;
    if (op->kind != OP_COPY || topology->copies_at_once == 0)
        return NULL;
    sending_ends(op, &from, &to);
    return from < 0 && to < 0 ? NULL : &engines[owner_of(op, from, to)][kind_of(op, from, to)];
}

bool engine_take(struct op *op)
{
    struct copy_engine *e = op->engine = engine_of(op);
    if (!e)
        return true;
    if (e->busy < topology->copies_at_once) {
        e->busy++;
        return true;
    }
    op->next_copy = NULL;
    if (!e->first)
        e->last = &e->first;
    *e->last = op;
    e->last = &op->next_copy;
    return false;
}

struct op *engine_leave(struct op *op)
{
    struct copy_engine *e = op->engine;
    struct op *next = e ? e->first : NULL;
    if (next)
        e->first = next->next_copy; /* the engine goes from hand to hand */
    else if (e)
        e->busy--;
    return next;
}
