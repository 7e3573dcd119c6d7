/* SPDX-License-Identifier: MIT
 * request_witness.c: requests of the verifier and of vgpu-smi.
 */
#include "counts.h"
#include "reply.h"
#include "request.h"
#include "server.h"

#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "device_memory.h"
#include "machine.h"
#include "order.h"
#include "process.h"
#include "sealed.h"
#include "late_issue.h"
#include "sim.h"
#include "trace.h"

void request_summary(struct connection *c)
{
    struct vgpu_summary summary;
    summary = node_counts;
    summary.now_ps = sim_now(server_state.sim);
    summary.choices = order_choices(server_state.order);
    summary.progress += memory_control()->progress;
    order_describe(server_state.order, summary.waiting, sizeof summary.waiting);
    explain_unmark(summary.waiting);
    memcpy(c->reply.r.data, &summary, sizeof summary);
    c->reply.r.data_bytes = sizeof summary;
    late_issue_describe(c->reply.r.explain, sizeof c->reply.r.explain);
    node_counts.progress--; /* a query does not count as progress */
}

void request_trace(struct connection *c)
{
    struct vgpu_trace_record *out = (struct vgpu_trace_record *)c->reply.r.data;
    int room = (int)((sizeof c->reply - sizeof c->reply.r) / sizeof *out);
    int count = trace_read(server_state.trace, c->request.q.value, out, room);
    c->reply.r.value = (uint64_t)count;
    c->reply.r.value2 = trace_total(server_state.trace);
    c->reply.r.data_bytes = (uint32_t)((size_t)count * sizeof *out);
    node_counts.progress--;
}

void request_seal(struct connection *c)
{
    const char *why = "only the first witness can seal memory, and only before the first program";
    if (!c->first_witness || process_first() ||
        !sealed_take(c->request_fd, c->request.q.bytes, &why))
        request_fail(c, VGPU_INVALID_VALUE, "%s", why);
}

static void add_users(struct vgpu_observed *o, const struct process *p)
{
    for (int d = 0; d < VGPU_MAX_DEVICES && o->count < VGPU_OBSERVED_USERS; d++) {
        if (!p->memory.context[d])
            continue;
        o->user[o->count].pid = p->pid;
        o->user[o->count].device = d;
        o->user[o->count].bytes = memory_bytes_of(&p->memory, d);
        snprintf(o->user[o->count].program, sizeof o->user->program, "%.*s",
                 (int)sizeof o->user->program - 1, p->program);
        o->count++;
    }
}

void request_observe(struct connection *c)
{
    struct vgpu_observed o = {0};
    for (int d = 0; d < machine->info.device_count; d++)
        o.used_bytes[d] = machine->info.device[d].total_bytes - memory_free_bytes(d);
    for (const struct process *p = process_first(); p; p = p->next)
        if (!p->dead)
            add_users(&o, p);
    memcpy(c->reply.r.data, &o, sizeof o);
    c->reply.r.data_bytes = sizeof o;
    c->reply.r.value = VGPU_PROTOCOL;
    c->reply_fd[0] = server_state.info_fd;
    c->reply_fds = 1;
    node_counts.progress--;
}
