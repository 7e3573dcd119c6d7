/* SPDX-License-Identifier: MIT
 * trace.c: see trace.h. Records are kept in order of issue; an end of 0 means that the operation
 * has not finished.
 */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counts.h"
#include "fd_info.h"
#include "observer.h"
#include "sealed.h"
#include "sim.h"
#include "text.h"
#include "timeline.h"
#include "timeline_json.h"

#define TRACE_LIMIT (1u << 20)

struct trace {
    struct vgpu_trace_record *records;
    uint64_t total, room;
    struct timeline timeline;
    struct op_observer observer;
    struct sim *sim;
};

/* The memory of a record: a GPU; -1: pinned, -2: pageable, -3: sealed host memory. */
static int memory_place(int device, uint64_t address, bool pageable)
{
    return device >= 0 ? device : sealed_is(address) ? -3 : pageable ? -2 : -1;
}

static struct vgpu_trace_record *append_record(struct trace *t)
{
    if (t->total == TRACE_LIMIT)
        return NULL;
    if (t->total == t->room) {
        uint64_t more = t->room ? 2 * t->room : 256;
        struct vgpu_trace_record *grown = realloc(t->records, more * sizeof *grown);
        if (!grown)
            return NULL;
        t->records = grown;
        t->room = more;
    }
    memset(&t->records[t->total], 0, sizeof *t->records);
    return &t->records[t->total++];
}

static void describe_copy(struct vgpu_trace_record *r, const struct op *op)
{
    const struct vgpu_copy *c = &op->u.copy;
    r->kind = VGPU_TRACE_COPY;
    r->from = memory_place(op->from, c->src, c->src_pageable);
    r->to = memory_place(op->to, c->dst, c->dst_pageable);
    r->bytes = c->bytes * c->rows;
    int from = r->from < 0 ? VGPU_MAX_DEVICES : r->from, to = r->to < 0 ? VGPU_MAX_DEVICES : r->to;
    node_counts.copies++;
    if (r->from != -3 && r->to != -3) /* copies of the verifier's memory are not counted */
        node_counts.copied[from][to] += r->bytes;
}

static void note_argument(struct vgpu_trace_record *r, const struct kernel_run *k)
{
    if (k->launch.args_bytes >= sizeof r->argument)
        memcpy(&r->argument, k->args, sizeof r->argument);
}

/* Called before arrows to the operation are recorded. */
static void op_issued(void *self, struct op *op)
{
    struct trace *t = self;
    bool works = op->kind == OP_COPY || op->kind == OP_MEMSET || op->kind == OP_KERNEL;
    struct vgpu_trace_record scratch = {0}, *r = works ? append_record(t) : NULL;
    if (!works)
        return;
    op->trace.record = r ? (uint64_t)(r - t->records) + 1 : 0;
    r = r ? r : &scratch;
    r->pid = op->process->pid;
    r->device = op->device;
    r->issue_ps = op->issue_ps;
    vgpu_text_copy(r->name, sizeof r->name, op->kind == OP_KERNEL ? op->u.kernel.name : op->call);
    vgpu_text_copy(r->site, sizeof r->site, op->site);
    if (op->kind == OP_COPY) {
        describe_copy(r, op);
    } else if (op->kind == OP_MEMSET) {
        r->kind = VGPU_TRACE_MEMSET;
        r->to = op->to;
        r->bytes = op->u.memset.bytes * op->u.memset.rows;
        node_counts.memsets++;
    } else {
        r->kind = VGPU_TRACE_KERNEL;
        note_argument(r, &op->u.kernel);
        node_counts.launches++;
    }
}

static uint64_t launched_threads(const struct vgpu_launch *launch)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= (uint64_t)launch->grid[i] * launch->block[i];
    return threads;
}

static void count_kernel(const struct op *op, struct vgpu_trace_record *r)
{
    for (int m = 0; op->counts && m <= VGPU_MAX_DEVICES; m++) {
        uint64_t bytes = op->counts->read_bytes[m] + op->counts->write_bytes[m];
        node_counts.kernel_bytes[op->device][m] += bytes;
        r->bytes += bytes;
        r->far_bytes += m == op->device || m == VGPU_MAX_DEVICES ? 0 : bytes;
        r->from |= op->counts->read_bytes[m] ? 1 << m : 0;
        r->to |= op->counts->write_bytes[m] ? 1 << m : 0;
    }
    r->threads = launched_threads(&op->u.kernel.launch);
    if (!op->counts)
        return;
    r->atomics = op->counts->atomics;
    r->barriers = op->counts->barriers;
    r->shared_accesses = op->counts->shared_accesses;
    r->shuffles = op->counts->shuffles;
    r->busiest = op->counts->busiest;
    r->fast_blocks = op->counts->fast_blocks;
}

/* Records the form that a kernel ran in, and its fault. */
static void kernel_ran(void *self, struct op *op, const struct kernel_report *report)
{
    struct trace *t = self;
    const struct vgpu_exec_reply *reply = report->reply;
    if (!op->trace.record)
        return;
    struct vgpu_trace_record *r = &t->records[op->trace.record - 1];
    memcpy(r->careful, reply->careful, sizeof r->careful);
    if (reply->status != VGPU_FAULTED)
        return;
    r->faulted = reply->fault.kind;
    r->fault_at = reply->fault.address;
    r->fault_of = memory_device_of(reply->fault.address);
}

static void op_finished_in_time(void *self, struct op *op)
{
    struct trace *t = self;
    struct vgpu_trace_record scratch = {0},
                             *r = op->trace.record ? &t->records[op->trace.record - 1] : &scratch;
    r->stream = op->stream;
    r->on_stream = op->on_stream;
    r->start_ps = op->start_ps;
    r->end_ps = op->end_ps;
    if (op->kind == OP_KERNEL)
        count_kernel(op, r);
}

/* Adds a record of a finding or advice. */
static void add_finding(void *self, const struct finding *f)
{
    struct vgpu_trace_record *r = append_record(self);
    if (f->advice)
        node_counts.advice++;
    else
        node_counts.findings++;
    if (!r)
        return;
    r->kind = VGPU_TRACE_FINDING;
    r->pid = f->process->pid;
    if (f->op) {
        r->device = r->from = f->op->device;
        r->to = f->memory;
        r->stream = f->op->stream;
        r->on_stream = f->op->on_stream;
        r->bytes = f->bytes;
        r->issue_ps = r->start_ps = r->end_ps = f->op->issue_ps;
    }
    snprintf(r->name, sizeof r->name, "%.47s", f->name);
    snprintf(r->site, sizeof r->site, "%.63s", f->site);
}

void trace_elapsed(struct trace *t, const struct process *process, int device, uint64_t start_ps,
                   uint64_t end_ps)
{
    struct vgpu_trace_record *r = append_record(t);
    if (!r)
        return;
    r->kind = VGPU_TRACE_CALL;
    r->pid = process->pid;
    r->device = device;
    r->issue_ps = r->start_ps = start_ps;
    r->end_ps = end_ps;
    snprintf(r->name, sizeof r->name, "cudaEventElapsedTime");
}

int trace_read(const struct trace *t, uint64_t first, struct vgpu_trace_record *out, int limit)
{
    if (first >= t->total)
        return 0;
    uint64_t n = t->total - first < (uint64_t)limit ? t->total - first : (uint64_t)limit;
    memcpy(out, t->records + first, n * sizeof *out);
    return (int)n;
}

uint64_t trace_total(const struct trace *t)
{
    return t->total;
}

/* ---- timelines ---- */

static void op_follows(void *self, struct op *op, const struct op *dep)
{
    struct trace *t = self;
    timeline_after(&t->timeline, op, dep);
}

static void record_rates(void *self, uint64_t at_ps, const double *bytes_s)
{
    struct trace *t = self;
    timeline_rates(&t->timeline, at_ps, bytes_s);
}

static void bytes_sent(void *self, const struct route *route, uint64_t bytes)
{
    struct trace *t = self;
    timeline_bytes(&t->timeline, route, bytes);
}

static void refuse_trace(struct process *process, const char *why)
{
    char text[200];
    snprintf(text, sizeof text, "VGPU_TRACE: there is no trace of this program: %s", why);
    process_remark(process, text);
}

void trace_program(struct trace *t, struct process *process, int fd)
{
    struct stat stat;
    timeline_program(&t->timeline, process->pid);
    process->trace.timeline_fd = -1;
    if (fd < 0)
        return;
    if (fd_info(fd, &stat) == 0 && S_ISREG(stat.st_mode))
        process->trace.timeline_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* contexts do not inherit it */
    else
        errno = EINVAL;
    if (process->trace.timeline_fd >= 0)
        sim_watch_rates(t->sim, record_rates, t);
    else
        refuse_trace(process, errno == EINVAL ? "it is not a regular file" : strerror(errno));
}

void trace_write(struct trace *t, struct process *process)
{
    if (process->trace.timeline_fd < 0)
        return;
    if (!timeline_json(&t->timeline, t->records, t->total, process->trace.timeline_fd))
        refuse_trace(process, "the node is out of memory, or the file cannot be written");
    process->trace.timeline_fd = -1;
}

static void process_ends(void *self, struct process *process)
{
    trace_write(self, process);
}

void trace_call(struct trace *t, const struct process *process, uint32_t thread,
                const struct vgpu_request *q, uint64_t end_ps)
{
    bool range = q->op == VGPU_OP_RANGE;
    uint64_t start_ps = range ? q->value : q->clock_ps;
    if (process->trace.timeline_fd < 0 || !q->call[0] || end_ps <= start_ps)
        return;
    struct timeline_call call = {.start_ps = start_ps,
                                 .end_ps = end_ps,
                                 .pid = process->pid,
                                 .thread = thread,
                                 .range = range};
    vgpu_text_copy(call.name, sizeof call.name,
                   q->op == VGPU_OP_LAUNCH ? "cudaLaunchKernel" : q->call);
    vgpu_text_copy(call.site, sizeof call.site, q->site);
    timeline_call(&t->timeline, &call);
}

void trace_restart(struct trace *t)
{
    timeline_restart(&t->timeline, t->total);
    sim_watch_rates(t->sim, NULL, NULL);
}

/* ---- creation and end ---- */

struct trace *trace_new(const struct topology *topology)
{
    struct trace *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->timeline.topology = topology;
    t->observer = (struct op_observer){.self = t,
                                       .issued = op_issued,
                                       .follows = op_follows,
                                       .ran = kernel_ran,
                                       .finished = op_finished_in_time,
                                       .found = add_finding,
                                       .process_ends = process_ends};
    return t;
}

void trace_observe(struct trace *t, struct sim *sim)
{
    t->sim = sim;
    op_observe(&t->observer);
    sim_watch_bytes(sim, bytes_sent, t);
}

void trace_end(struct trace *t)
{
    if (!t)
        return;
    op_unobserve(&t->observer);
    if (t->sim) {
        sim_watch_rates(t->sim, NULL, NULL);
        sim_watch_bytes(t->sim, NULL, NULL);
    }
    timeline_free(&t->timeline);
    free(t->records);
    free(t);
}
