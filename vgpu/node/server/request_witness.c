/* SPDX-License-Identifier: MIT
 * request_witness.c: requests of the verifier.
 */
#include "counts.h"
#include "reply.h"
#include "request.h"
#include "server_state.h"

#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "device_memory.h"
#include "order.h"
#include "process.h"
#include "sealed.h"
#include "late_issue.h"
#include "sim.h"
#include "trace.h"

void request_summary(struct connection *c)
{
    struct vgpu_summary summary;
    summary = *node_counts();
    summary.now_ps = sim_now(server_state()->sim);
    summary.choices = order_choices(server_state()->order);
    summary.progress += memory_control()->progress;
    order_describe(server_state()->order, summary.waiting, sizeof summary.waiting);
    explain_unmark(summary.waiting);
    memcpy(c->reply.r.data, &summary, sizeof summary);
    c->reply.r.data_bytes = sizeof summary;
    late_issue_describe(c->reply.r.explain, sizeof c->reply.r.explain);
    node_counts()->progress--; /* a query does not count as progress */
}

void request_trace(struct connection *c)
{
    struct vgpu_trace_record *out = (struct vgpu_trace_record *)c->reply.r.data;
    int room = (int)((sizeof c->reply - sizeof c->reply.r) / sizeof *out);
    int count = trace_read(server_state()->trace, c->request.q.value, out, room);
    c->reply.r.value = (uint64_t)count;
    c->reply.r.value2 = trace_total(server_state()->trace);
    c->reply.r.data_bytes = (uint32_t)((size_t)count * sizeof *out);
    node_counts()->progress--;
}

void request_seal(struct connection *c)
{
    const char *why = "sealed memory is the first witness's, and comes before the first program";
    if (!c->first_witness || process_first() ||
        !sealed_take(c->request_fd, c->request.q.bytes, &why))
        request_fail(c, VGPU_INVALID_VALUE, "%s", why);
}
