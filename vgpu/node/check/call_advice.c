/* SPDX-License-Identifier: MIT
 * call_advice.c: see call_advice.h.
 *
 * A wait serialises GPUs unnecessarily if the next operation goes to another GPU than everything
 * issued since the wait before, shares no memory with it, and could have been issued earlier: for
 * example a loop that launches on one GPU and waits for it before it launches on the next.
 */
#include "call_advice.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "explain.h"
#include "finding.h"
#include "machine.h"
#include "process.h"
#include "op_costs.h"
#include "topology.h"

enum { CALL_COUNTS_MAX = 4096 }; /* per program */
enum { TINY_BYTES = 4096, TINY_COUNT = 64, LOOP_COUNT = 16, PAGEABLE_BYTES = 65536, BATCH = 32 };

enum kind { STAGED, PAGEABLE, TINY, ALLOCATES, SERIAL };

/* Counters of one place and kind. */
struct call_count {
    enum kind kind;
    uint64_t caller;
    uint64_t count, bytes, cost_ps, better_ps;
    /* ALLOCATES: the program's number of frees at the first and at the last call. */
    uint64_t frees_first, frees_last;
    int from, to;
    char call[32];
    struct call_count *next;
};

struct call_advice { /* per process */
    struct call_count *call_counts;
    uint64_t frees;
    struct op *batch[BATCH]; /* operations issued since the last wait */
    int batch_count;
    bool batch_unknown; /* there were more of them, or the host has received data */
    struct {
        bool any;
        uint64_t caller, cost_ps;
        char call[32];
    } waited;
};

static bool advice_wanted(const struct process *process)
{
    return process && (process->checks & VGPU_CHECK_ADVICE) && !process->left && !process->dead;
}

static struct call_advice *call_advice_of(struct process *process)
{
    if (!process->check.calls)
        process->check.calls = calloc(1, sizeof *process->check.calls);
    return process->check.calls;
}

static struct call_count *find_call_count(struct process *process, enum kind kind, uint64_t caller,
                                          const char *call)
{
    struct call_advice *h = call_advice_of(process);
    struct call_count *t = h ? h->call_counts : NULL;
    int count = 0;
    for (; t && (t->kind != kind || t->caller != caller); count++)
        t = t->next;
    if (t || !h || count == CALL_COUNTS_MAX)
        return t;
    t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct call_count){.kind = kind, .caller = caller, .next = h->call_counts};
    snprintf(t->call, sizeof t->call, "%s", call);
    h->call_counts = t;
    return t;
}

static void add_call(struct call_count *t, uint64_t bytes, uint64_t cost_ps)
{
    if (!t)
        return;
    t->count++;
    t->bytes += bytes;
    t->cost_ps += cost_ps;
}

/* ---- copies ---- */

static uint64_t alone_ps(const struct path_model *m, uint64_t bytes)
{
    return m->latency_ps + (uint64_t)((double)bytes / m->bytes_s * 1e12);
}

static void count_staged(const struct op *op, uint64_t bytes)
{
    if (op->from < 0 || op->to < 0 || op->from == op->to || op->direct ||
        !machine->info.pair[op->from][op->to].access)
        return;
    struct call_count *t = find_call_count(op->process, STAGED, op->caller, op->call);
    add_call(t, bytes, op->end_ps - op->start_ps);
    if (!t)
        return;
    t->from = op->from;
    t->to = op->to;
    t->better_ps += alone_ps(&machine->path[PATH_PEER], bytes);
}

void advise_copied(const struct op *op)
{
    if (op->kind != OP_COPY || !advice_wanted(op->process))
        return;
    const struct vgpu_copy *copy = &op->u.copy;
    uint64_t bytes = copy->bytes * copy->rows;
    count_staged(op, bytes);
    if (bytes > TINY_BYTES || op->graph != VGPU_GRAPH_NONE)
        return;
    struct call_count *t = find_call_count(op->process, TINY, op->caller, op->call);
    add_call(t, bytes, op->end_ps - op->start_ps);
    if (t)
        t->better_ps = alone_ps(copy_model(machine, op), t->bytes);
}

/* ---- waits ---- */

static void count_pageable(struct process *process, const struct op *op, uint64_t waited_ps)
{
    const struct vgpu_copy *copy = &op->u.copy;
    if (op->kind != OP_COPY || copy->sync || !(copy->src_pageable || copy->dst_pageable))
        return;
    add_call(find_call_count(process, PAGEABLE, op->caller, op->call), copy->bytes * copy->rows,
             waited_ps);
}

static void forget_batch(struct call_advice *h)
{
    for (int i = 0; i < h->batch_count; i++)
        op_drop(h->batch[i]);
    h->batch_count = 0;
    h->batch_unknown = false;
}

/* True if the host receives data, on which its next call may depend. */
static bool brings_data(const struct op *op)
{
    return op->kind == OP_HOST || (op->kind == OP_COPY && op->to < 0);
}

void advise_waited(struct process *process, const struct vgpu_request *q, const struct op *op,
                   uint64_t waited_ps)
{
    struct call_advice *h = advice_wanted(process) ? call_advice_of(process) : NULL;
    if (!h)
        return;
    count_pageable(process, op, waited_ps);
    bool explicit_wait =
        q->op == VGPU_OP_STREAM_SYNC || q->op == VGPU_OP_DEVICE_SYNC || q->op == VGPU_OP_EVENT_SYNC;
    h->waited.any = explicit_wait && h->batch_count > 0 && !h->batch_unknown;
    h->waited.caller = q->caller;
    h->waited.cost_ps = waited_ps;
    snprintf(h->waited.call, sizeof h->waited.call, "%s", q->call);
    if (!h->waited.any)
        forget_batch(h);
}

static bool uses_other_memory(const struct op *a, const struct op *b)
{
    for (int i = 0; i < OP_TOUCHES && a->touch[i]; i++)
        for (int k = 0; k < OP_TOUCHES && b->touch[k]; k++)
            if (a->touch[i] == b->touch[k])
                return false;
    return a->device != b->device;
}

static bool is_independent_of_batch(const struct call_advice *h, const struct op *op)
{
    for (int i = 0; i < h->batch_count; i++)
        if (!uses_other_memory(h->batch[i], op))
            return false;
    return true;
}

void advise_issued(struct op *op)
{
    bool works = op->kind == OP_COPY || op->kind == OP_MEMSET || op->kind == OP_KERNEL;
    struct call_advice *h =
        works && advice_wanted(op->process) ? call_advice_of(op->process) : NULL;
    if (!h)
        return;
    if (h->waited.any) {
        if (op->touch[0] && is_independent_of_batch(h, op))
            add_call(find_call_count(op->process, SERIAL, h->waited.caller, h->waited.call), 0,
                     h->waited.cost_ps);
        forget_batch(h);
        h->waited.any = false;
    }
    h->batch_unknown |= h->batch_count == BATCH || brings_data(op) || !op->touch[0];
    if (h->batch_count < BATCH)
        h->batch[h->batch_count++] = op_keep(op);
}

/* ---- memory ---- */

void advise_allocated(struct process *process, const struct vgpu_request *q)
{
    if (!advice_wanted(process))
        return;
    struct call_count *t = find_call_count(process, ALLOCATES, q->caller, q->call);
    const struct costs *cost = &machine->cost;
    add_call(t, q->bytes, cost->malloc_ps + cost->free_ps);
    if (!t)
        return;
    t->frees_last = process->check.calls->frees;
    if (t->count == 1)
        t->frees_first = t->frees_last;
}

void advise_freed(struct process *process)
{
    if (advice_wanted(process) && call_advice_of(process))
        process->check.calls->frees++;
}

/* ---- the report ---- */

static void report_staged(struct process *p, const struct call_count *t)
{
    finding_tell(p, VGPU_DIAGNOSIS_advice_staging, NULL, t->caller,
                 "%llu copies (%llu bytes) by %s" EXPLAIN_AT_FORMAT " from GPU %d to GPU %d went "
                 "through host memory and took %.1f us; direct ones take about %.1f us: call "
                 "cudaDeviceEnablePeerAccess(%d, 0) while GPU %d is current",
                 (unsigned long long)t->count, (unsigned long long)t->bytes, t->call,
                 (unsigned long long)t->caller, t->from, t->to, ps_in_us(t->cost_ps),
                 ps_in_us(t->better_ps), t->from, t->to);
}

static void report_pageable(struct process *p, const struct call_count *t)
{
    if (t->bytes >= PAGEABLE_BYTES)
        finding_tell(p, VGPU_DIAGNOSIS_advice_pageable, NULL, t->caller,
                     "%s" EXPLAIN_AT_FORMAT
                     " copies %llu bytes of pageable memory: the call blocks the host, for %.1f us "
                     "in all, and overlaps with no other work; allocate the host side with "
                     "cudaMallocHost, or pin it with cudaHostRegister",
                     t->call, (unsigned long long)t->caller, (unsigned long long)t->bytes,
                     ps_in_us(t->cost_ps));
}

static void report_tiny_copies(struct process *p, const struct call_count *t)
{
    if (t->count >= TINY_COUNT && t->cost_ps > 4 * t->better_ps)
        finding_tell(p, VGPU_DIAGNOSIS_advice_tiny_transfers, NULL, t->caller,
                     "%llu copies by %s" EXPLAIN_AT_FORMAT
                     " moved %llu bytes in %.1f us; one copy of all of them takes about %.1f us: "
                     "join the pieces that do not depend on each other",
                     (unsigned long long)t->count, t->call, (unsigned long long)t->caller,
                     (unsigned long long)t->bytes, ps_in_us(t->cost_ps), ps_in_us(t->better_ps));
}

static void report_allocations(struct process *p, const struct call_count *t)
{
    if (t->count >= LOOP_COUNT && t->frees_last - t->frees_first >= t->count / 2)
        finding_tell(
            p, VGPU_DIAGNOSIS_advice_allocation, NULL, t->caller,
            "%s" EXPLAIN_AT_FORMAT " allocated %llu times, and memory was freed in "
            "between: allocations and frees took about %.1f us of the host's time; allocate once, "
            "before the loop",
            t->call, (unsigned long long)t->caller, (unsigned long long)t->count,
            ps_in_us(t->cost_ps));
}

static void report_serialised(struct process *p, const struct call_count *t)
{
    finding_tell(p, VGPU_DIAGNOSIS_advice_serialised, NULL, t->caller,
                 "%s" EXPLAIN_AT_FORMAT " waited %llu times (%.1f us in all) for one GPU before "
                 "work was given to another that does not need what the first one did: give all "
                 "GPUs their work first, then wait for each",
                 t->call, (unsigned long long)t->caller, (unsigned long long)t->count,
                 ps_in_us(t->cost_ps));
}

void advise_calls_tell(struct process *process)
{
    static void (*const tell[])(struct process *, const struct call_count *) = {
        [STAGED] = report_staged,     [PAGEABLE] = report_pageable,     [TINY] = report_tiny_copies,
        [SERIAL] = report_serialised, [ALLOCATES] = report_allocations,
    };
    for (const struct call_count *t = process->check.calls ? process->check.calls->call_counts
                                                           : NULL;
         t; t = t->next)
        tell[t->kind](process, t);
}

void advise_calls_free(struct process *process)
{
    struct call_advice *h = process->check.calls;
    if (!h)
        return;
    process->check.calls = NULL;
    forget_batch(h);
    while (h->call_counts) {
        struct call_count *next = h->call_counts->next;
        free(h->call_counts);
        h->call_counts = next;
    }
    free(h);
}
