/* SPDX-License-Identifier: MIT
 * trace.c: see trace.h. The trace is kept in order of issue; a record whose end is 0 never
 * finished.
 */
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "text.h"

#define TRACE_LIMIT (1u << 20)

static struct vgpu_summary counts;
static struct vgpu_trace_record *records;
static uint64_t total, room;

struct vgpu_summary *trace_counts(void)
{
    return &counts;
}

static int place(const struct op *op, uint64_t address, int pageable)
{
    (void)op;
    int device = process_device_of(address);
    return device >= 0 ? device : pageable ? -2 : -1;
}

static struct vgpu_trace_record *append(void)
{
    if (total == TRACE_LIMIT)
        return NULL;
    if (total == room) {
        uint64_t more = room ? 2 * room : 256;
        struct vgpu_trace_record *grown = realloc(records, more * sizeof *grown);
        if (!grown)
            return NULL;
        records = grown;
        room = more;
    }
    memset(&records[total], 0, sizeof *records);
    return &records[total++];
}

static void describe_copy(struct vgpu_trace_record *r, const struct op *op)
{
    const struct vgpu_copy *c = &op->u.copy;
    r->kind = VGPU_TRACE_COPY;
    r->from = place(op, c->src, c->src_pageable);
    r->to = place(op, c->dst, c->dst_pageable);
    r->bytes = c->bytes * c->rows;
    int from = r->from < 0 ? VGPU_MAX_DEVICES : r->from, to = r->to < 0 ? VGPU_MAX_DEVICES : r->to;
    counts.copies++;
    counts.copied[from][to] += r->bytes;
}

void trace_issue(struct op *op)
{
    struct vgpu_trace_record scratch = {0}, *r = op->kind == OP_MARK ? NULL : append();
    if (op->kind == OP_MARK)
        return;
    op->trace = r ? (uint64_t)(r - records) + 1 : 0;
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
        r->to = place(op, op->u.memset.dst, 0);
        r->bytes = op->u.memset.bytes * op->u.memset.rows;
        counts.memsets++;
    } else {
        r->kind = VGPU_TRACE_KERNEL;
        counts.launches++;
    }
}

static void count_kernel(const struct op *op, struct vgpu_trace_record *r)
{
    for (int m = 0; op->counts && m <= VGPU_MAX_DEVICES; m++) {
        uint64_t bytes = op->counts->read_bytes[m] + op->counts->write_bytes[m];
        counts.kernel_bytes[op->device][m] += bytes;
        r->bytes += bytes;
    }
}

void trace_operation(struct op *op, uint64_t now_ps)
{
    struct vgpu_trace_record scratch = {0}, *r = op->trace ? &records[op->trace - 1] : &scratch;
    if (op->kind == OP_MARK)
        return;
    r->stream = op->stream;
    r->start_ps = op->start_ps;
    r->end_ps = now_ps;
    if (op->kind == OP_KERNEL)
        count_kernel(op, r);
}

void trace_finding(const struct op *op, const char *name, const char *site, int memory,
                   uint64_t bytes)
{
    struct vgpu_trace_record *r = append();
    counts.findings++;
    if (!r)
        return;
    r->kind = VGPU_TRACE_FINDING;
    r->pid = op->process->pid;
    r->device = op->device;
    r->from = op->device;
    r->to = memory;
    r->stream = op->stream;
    r->bytes = bytes;
    r->issue_ps = r->start_ps = r->end_ps = op->issue_ps;
    snprintf(r->name, sizeof r->name, "%.47s", name);
    snprintf(r->site, sizeof r->site, "%.63s", site);
}

void trace_diagnosis(const struct process *process, const struct op *op,
                     enum vgpu_diagnosis diagnosis)
{
    struct vgpu_trace_record *r = append();
    if (vgpu_diagnosis_is_advice(diagnosis))
        counts.advice++;
    else
        counts.findings++;
    if (!r)
        return;
    r->kind = VGPU_TRACE_FINDING;
    r->pid = process->pid;
    if (op) {
        r->device = r->from = r->to = op->device;
        r->stream = op->stream;
        r->issue_ps = r->start_ps = r->end_ps = op->issue_ps;
    }
    snprintf(r->name, sizeof r->name, "%s", vgpu_diagnosis_code(diagnosis));
}

void trace_memory(int device, uint64_t bytes, uint64_t asked_bytes)
{
    if (bytes > counts.peak_bytes[device])
        counts.peak_bytes[device] = bytes;
    if (asked_bytes > counts.peak_asked_bytes[device])
        counts.peak_asked_bytes[device] = asked_bytes;
}

int trace_read(uint64_t first, struct vgpu_trace_record *out, int limit)
{
    if (first >= total)
        return 0;
    uint64_t n = total - first < (uint64_t)limit ? total - first : (uint64_t)limit;
    memcpy(out, records + first, n * sizeof *out);
    return (int)n;
}

uint64_t trace_total(void)
{
    return total;
}
