/* SPDX-License-Identifier: MIT
 * reply.c: see reply.h.
 */
#include "reply.h"

#include <stdarg.h>
#include <stdio.h>

#include "machine.h"
#include "pool.h"
#include "process.h"
#include "text.h"

void request_cost(struct connection *c, uint64_t cost_ps)
{
    const struct vgpu_request *q = &c->request.q;
    const struct costs *cost = &machine->cost;
    if (q->graph != VGPU_GRAPH_NONE)
        cost_ps = q->op == VGPU_OP_COPY ? cost->graph_copy_ps : 0;
    c->reply.r.clock_ps = c->request.q.clock_ps + cost_ps;
}

void request_fail(struct connection *c, int error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    c->reply.r.error = error;
    vsnprintf(c->reply.r.explain, sizeof c->reply.r.explain, format, list);
    va_end(list);
}

bool request_device(struct connection *c, int device)
{
    if (device < 0 || device >= machine->info.device_count) {
        request_fail(c, VGPU_INVALID_DEVICE, "there is no GPU %d: the node has %d", device,
                     machine->info.device_count);
        return false;
    }
    bool is_there = c->process->memory.context[device] && !c->process->sticky;
    c->reply.r.error = is_there ? VGPU_SUCCESS : process_context(c->process, device);
    return c->reply.r.error == VGPU_SUCCESS;
}

struct op *request_op(struct connection *c, int device, enum op_kind kind)
{
    const struct vgpu_request *q = &c->request.q;
    struct op *op = op_new(c->process, device, kind);
    op->issue_ps = c->reply.r.clock_ps; /* the device receives it at the end of the call */
    op->seen_ps = c->time.seen_ps;
    op->graph = q->graph & VGPU_GRAPH_PLACE;
    op->caller = q->caller;
    vgpu_text_copy(op->call, sizeof op->call, q->call);
    vgpu_text_copy(op->site, sizeof op->site, q->site);
    return op;
}

void request_answer_at_once(struct connection *c, struct op *op)
{
    c->reply.r.step = (struct vgpu_step){op->check.component, op->check.number};
    op_drop(op);
}

void request_wait_until(struct connection *c, struct op *op, enum wait until)
{
    c->wait.op = op;
    c->wait.until = until;
    op->awaited = true;
}

void request_wait(struct connection *c, struct op *mark)
{
    pool_owner_waits(&c->process->memory);
    request_wait_until(c, mark, WAIT_END);
}

bool request_same(struct connection *c, uint64_t serial)
{
    if (!c->wait.waited)
        c->wait.object = serial;
    return c->wait.object == serial;
}
