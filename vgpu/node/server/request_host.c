/* SPDX-License-Identifier: MIT
 * request_host.c: accesses of host code to pinned memory between calls, as far as the program's
 * side detects them (vgpu/api/checks/guard.c).
 */
#include <string.h>

#include "process.h"
#include "reply.h"
#include "request.h"
#include "server.h"
#include "checks.h"

/* Compares the access with those of earlier operations, and keeps it for later ones. */
void request_host_touch(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct vgpu_span byte = {q->ptr, 1, 1, 1, q->flags ? VGPU_USE_WRITE : VGPU_USE_READ};
    request_cost(c, 0);
    if (c->process->sticky || q->ptr < VGPU_HOST_VA || q->ptr >= VGPU_HOST_END)
        return;
    struct op *op = op_new(c->process, 0, OP_TOUCH);
    op->caller = q->caller;
    checks_host_touched(server_state.checks, op, &byte);
    op_drop(op);
}

void request_host_known(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    uint32_t count = q->data_bytes / sizeof(struct vgpu_step);
    uint32_t room = sizeof c->reply - sizeof c->reply.r;
    request_cost(c, 0);
    for (uint32_t i = 0; i < count && i < room; i++) {
        struct vgpu_step step;
        memcpy(&step, q->data + i * sizeof step, sizeof step);
        c->reply.r.data[i] = checks_known_step(server_state.checks, step);
    }
    c->reply.r.data_bytes = count < room ? count : room;
}
