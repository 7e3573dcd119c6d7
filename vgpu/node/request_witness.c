/* SPDX-License-Identifier: MIT
 * request_witness.c: what the verifier asks for.
 */
#include "request.h"

#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "memory.h"
#include "order.h"
#include "overtaken.h"
#include "sim.h"
#include "trace.h"

void request_summary(struct connection *c)
{
    struct vgpu_summary summary;
    server_drain(c);
    summary = *trace_counts();
    summary.now_ps = sim_now();
    summary.choices = order_choices();
    summary.progress += memory_control()->progress;
    order_describe(summary.waiting, sizeof summary.waiting);
    explain_unmark(summary.waiting);
    memcpy(c->reply.r.data, &summary, sizeof summary);
    c->reply.r.data_bytes = sizeof summary;
    overtaken_describe(c->reply.r.explain, sizeof c->reply.r.explain);
    trace_counts()->progress--; /* asking is no progress */
}

void request_trace(struct connection *c)
{
    struct vgpu_trace_record *out = (struct vgpu_trace_record *)c->reply.r.data;
    int room = (int)((sizeof c->reply - sizeof c->reply.r) / sizeof *out);
    server_drain(c);
    int count = trace_read(c->request.q.value, out, room);
    c->reply.r.value = (uint64_t)count;
    c->reply.r.value2 = trace_total();
    c->reply.r.data_bytes = (uint32_t)((size_t)count * sizeof *out);
    trace_counts()->progress--;
}
