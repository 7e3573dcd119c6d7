/* SPDX-License-Identifier: MIT
 * op_costs.c: see op_costs.h.
 */
#include "op_costs.h"

#include "inject.h"
#include "kernel_time.h"

/* ---- copies ---- */

enum path copy_path(const struct op *op)
{
    const struct vgpu_copy *c = &op->u.copy;
    if (op->from < 0 && op->to < 0)
        return PATH_HOST;
    if (op->from < 0)
        return c->src_pageable ? PATH_H2D_PAGEABLE : PATH_H2D_PINNED;
    if (op->to < 0)
        return c->dst_pageable ? PATH_D2H_PAGEABLE : PATH_D2H_PINNED;
    if (op->from == op->to)
        return PATH_LOCAL;
    return op->direct ? PATH_PEER : PATH_STAGED;
}

uint64_t copy_bytes(const struct op *op)
{
    return op->u.copy.bytes * op->u.copy.rows;
}

const struct path_model *copy_model(const struct topology *t, const struct op *op)
{
    return &t->path[copy_path(op)];
}

/* The stream had nothing to do when `op` was issued. */
static bool was_idle(const struct op *op)
{
    return op->work_ps <= op->issue_ps;
}

uint64_t copy_latency(const struct topology *t, const struct op *op)
{
    const struct path_model *m = copy_model(t, op);
    uint64_t idle_ps = (double)copy_bytes(op) <= m->inline_bytes ? m->inline_idle_ps : m->idle_ps;
    return (op->graph == VGPU_GRAPH_NONE ? m->latency_ps : m->graph_ps) +
           (op->by_default ? m->default_ps : 0) + (was_idle(op) ? idle_ps : 0) +
           (inject_wanted ? inject_delay_ps(op->from, op->to) : 0);
}

/* ---- kernels and fills ---- */

/* More for the first work of a stream. */
static uint64_t processors_idle_ps(const struct topology *t, const struct op *op)
{
    return op->graph == VGPU_GRAPH_NONE && was_idle(op) ? t->cost.kernel_idle_ps : 0;
}

uint64_t fill_latency(const struct topology *t, const struct op *op)
{
    return t->cost.kernel_floor_ps + processors_idle_ps(t, op);
}

/* The minimum duration is that of the furthest memory that the kernel accesses. */
uint64_t kernel_latency(const struct topology *t, const struct op *op)
{
    const struct vgpu_run_counts *c = op->counts;
    uint64_t least = t->cost.kernel_floor_ps, far = 0;
    for (int m = 0; m < t->info.device_count; m++)
        if (m != op->device && c->read_bytes[m] + c->write_bytes[m] > 0)
            far = t->path[PATH_PEER].latency_ps;
    double clock = inject_wanted ? inject_clock(op->device) : 1;
    double clock_khz = t->info.device[op->device].clock_khz * clock;
    uint64_t spun = whole_of((double)c->cycles / clock_khz * 1e9);
    uint64_t idle_ps = (uint64_t)((double)processors_idle_ps(t, op) / clock);
    least = (uint64_t)((double)least / clock) + far;
    if (op->graph != VGPU_GRAPH_NONE) {
        uint64_t own_ps =
            op->graph == VGPU_GRAPH_NEXT ? t->cost.graph_next_ps : t->cost.graph_first_ps;
        own_ps = (uint64_t)((double)own_ps / clock);
        return far + (spun > own_ps ? spun : own_ps) + kernel_extra_ps(t, op);
    }
    return t->cost.kernel_delay_ps + idle_ps + (spun > least ? spun : least) +
           kernel_extra_ps(t, op);
}

uint64_t kernel_overhead(const struct topology *t, const struct op *op)
{
    return t->cost.kernel_delay_ps + t->cost.kernel_floor_ps + processors_idle_ps(t, op);
}
