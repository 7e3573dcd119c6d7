/* SPDX-License-Identifier: MIT
 * kernel_advice.c: see kernel_advice.h.
 *
 * Memory moves sectors of 32 bytes, and the bytes that a kernel uses of them are counted separately
 * (vgpu/exec/counts/door/sample.h); the difference gives the share of its time spent on unused
 * bytes. Kernels that wait for each other are excluded from load advice, since their duration
 * depends on the others.
 */
#include "kernel_advice.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "explain.h"
#include "finding.h"
#include "machine.h"
#include "process.h"
#include "kernel_time.h"
#include "op_costs.h"
#include "topology.h"

/* Less time is not reported. */
#define LEAST_PS 2000000ull
enum { LAUNCH_COUNTS_MAX = 4096 /* per program */ };
/* WASTE: ratio of bytes moved to bytes used. LEAST_WASTE: in bytes. */
enum { WASTE = 2, LEAST_WASTE = 1 << 20 };

/* Counters of one launch statement. */
struct kernel_advice {
    uint64_t caller;
    char name[64];
    uint64_t used, moved, lost_ps, total_ps;
    uint64_t conflict_ps, ways; /* time lost to bank conflicts; worst conflict of its launches */
    char conflict_where[96];
    uint64_t busy_ps[VGPU_MAX_DEVICES];
    uint32_t launches[VGPU_MAX_DEVICES];
    bool waits; /* some launches waited for other kernels */
    struct kernel_advice *next;
};

static struct kernel_advice *find_kernel_advice(const struct op *op)
{
    struct kernel_advice *p = op->process->check.kernels;
    int count = 0;
    for (; p && p->caller != op->caller; count++)
        p = p->next;
    if (p || count == LAUNCH_COUNTS_MAX)
        return p;
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->caller = op->caller;
    snprintf(p->name, sizeof p->name, "%s", op->u.kernel.name);
    p->next = op->process->check.kernels;
    op->process->check.kernels = p;
    return p;
}

static void sum_bytes(const struct vgpu_run_counts *c, uint64_t *used, uint64_t *moved)
{
    for (int m = 0; m < VGPU_MAX_DEVICES; m++) {
        *used += c->read_bytes[m] + c->write_bytes[m];
        *moved += c->read_moved[m] + c->write_moved[m];
    }
}

/* The kernel's duration without the overhead of its launch. */
static uint64_t work_ps(const struct op *op, uint64_t took_ps)
{
    uint64_t least_ps = kernel_overhead(machine, op);
    return took_ps > least_ps ? took_ps - least_ps : 0;
}

static void add_conflicts(struct kernel_advice *p, const struct op *op)
{
    uint64_t ps = kernel_conflict_ps(machine, op);
    if (ps > 0 && op->counts->conflict_ways >= p->ways) {
        p->ways = op->counts->conflict_ways;
        snprintf(p->conflict_where, sizeof p->conflict_where, "%s", op->counts->conflict_where);
    }
    p->conflict_ps += ps;
}

void advise_kernel_finished(const struct op *op)
{
    const struct process *process = op->process;
    if (op->kind != OP_KERNEL || !op->counts || !op->caller || process->left || process->dead ||
        !(process->checks & VGPU_CHECK_ADVICE))
        return;
    struct kernel_advice *p = find_kernel_advice(op);
    uint64_t used = 0, moved = 0, took_ps = op->end_ps - op->start_ps;
    if (!p)
        return;
    sum_bytes(op->counts, &used, &moved);
    if (moved > used)
        p->lost_ps +=
            (uint64_t)((double)work_ps(op, took_ps) * (double)(moved - used) / (double)moved);
    add_conflicts(p, op);
    p->used += used;
    p->moved += moved;
    p->total_ps += took_ps;
    p->busy_ps[op->device] += work_ps(op, took_ps);
    p->launches[op->device]++;
    p->waits |= op->clock.slices != NULL;
}

/* ---- the report ---- */

static void report_uncoalesced(struct process *process, const struct kernel_advice *p)
{
    if (p->waits || p->moved < WASTE * p->used || p->moved - p->used < LEAST_WASTE ||
        p->lost_ps < LEAST_PS || p->lost_ps < p->total_ps / 4)
        return;
    finding_tell(process, VGPU_DIAGNOSIS_advice_uncoalesced, NULL, p->caller,
                 "kernel %s" EXPLAIN_AT_FORMAT " used %llu bytes, and memory moved %llu for them, "
                 "in sectors of 32: neighbouring threads use memory that lies apart, which cost "
                 "about %.1f of its %.1f us; let thread i use element i",
                 p->name, (unsigned long long)p->caller, (unsigned long long)p->used,
                 (unsigned long long)p->moved, ps_in_us(p->lost_ps), ps_in_us(p->total_ps));
}

static void report_bank_conflicts(struct process *process, const struct kernel_advice *p)
{
    if (p->waits || p->conflict_ps < LEAST_PS || p->conflict_ps < p->total_ps / 4)
        return;
    const char *where = p->conflict_where;
    finding_tell(process, VGPU_DIAGNOSIS_advice_bank_conflict, NULL, p->caller,
                 "kernel %s" EXPLAIN_AT_FORMAT ": %s%slanes of a warp use different words of one "
                 "bank of shared memory, which takes %llu wavefronts in place of one and cost "
                 "about %.1f of its %.1f us; word w is in bank w %% 32: make rows one word longer "
                 "(tile[32][33]), or let lane i use word i",
                 p->name, (unsigned long long)p->caller, where, *where ? ": " : "",
                 (unsigned long long)p->ways, ps_in_us(p->conflict_ps), ps_in_us(p->total_ps));
}

/* The GPU that was busy longest, if all GPUs involved had the same number of launches; -1:
 * otherwise. */
static int find_slowest_gpu(const struct kernel_advice *p, int *gpus, uint64_t *sum_ps)
{
    int most = -1;
    *gpus = 0;
    *sum_ps = 0;
    for (int d = 0; d < VGPU_MAX_DEVICES; d++) {
        if (p->launches[d] == 0)
            continue;
        if (most >= 0 && p->launches[d] != p->launches[most])
            return -1;
        if (most < 0 || p->busy_ps[d] > p->busy_ps[most])
            most = d;
        ++*gpus;
        *sum_ps += p->busy_ps[d];
    }
    return most;
}

static void report_imbalance(struct process *process, const struct kernel_advice *p)
{
    int gpus;
    uint64_t sum_ps;
    int most = find_slowest_gpu(p, &gpus, &sum_ps);
    if (most < 0 || gpus < 2 || p->waits)
        return;
    uint64_t mean_ps = sum_ps / (uint64_t)gpus, busy_ps = p->busy_ps[most];
    if (10 * busy_ps < 14 * mean_ps || busy_ps - mean_ps < LEAST_PS)
        return;
    finding_tell(
        process, VGPU_DIAGNOSIS_advice_imbalance, NULL, p->caller,
        "kernel %s" EXPLAIN_AT_FORMAT
        " kept GPU %d busy for %.1f us and the %d GPUs that ran it for %.1f us on average: shared "
        "evenly it would end %.1f us earlier; give each GPU the same amount of work",
        p->name, (unsigned long long)p->caller, most, ps_in_us(busy_ps), gpus, ps_in_us(mean_ps),
        ps_in_us(busy_ps - mean_ps));
}

void advise_kernels_tell(struct process *process)
{
    for (const struct kernel_advice *p = process->check.kernels; p; p = p->next) {
        report_uncoalesced(process, p);
        report_bank_conflicts(process, p);
        report_imbalance(process, p);
    }
}

void advise_kernels_free(struct process *process)
{
    while (process->check.kernels) {
        struct kernel_advice *next = process->check.kernels->next;
        free(process->check.kernels);
        process->check.kernels = next;
    }
}
