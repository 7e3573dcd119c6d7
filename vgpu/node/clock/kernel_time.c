/* SPDX-License-Identifier: MIT
 * kernel_time.c: see kernel_time.h. A kernel in slices waits for others, and what its threads do
 * meanwhile is hidden in that: it lasts as long as its bytes.
 */
#include "kernel_time.h"

#include <math.h>

#include "image.h"
#include "inject.h"
#include "slices.h"

enum { LANES = 32, PARTIAL_WEIGHT = 2, FILLED = 2 };

/* A kernel's grid on the processors of its GPU. */
struct spread {
    double blocks, warps; /* warps of a block */
    double most;          /* blocks of the processor that has the most */
    double waves;         /* times that it takes in as many as it holds */
    double cycle_ps;
};

static double cycle_ps(const struct topology *t, int device)
{
    double clock = inject_wanted ? inject_clock(device) : 1;
    return 1e9 / (t->info.device[device].clock_khz * clock);
}

static const struct processor *processor_of(const struct topology *t, const struct op *op)
{
    return &t->processor[op->device];
}

static struct spread spread_blocks(const struct topology *t, const struct op *op)
{
    const uint32_t *grid = op->u.kernel.launch.grid, *block = op->u.kernel.launch.block;
    double processors = t->info.device[op->device].sm_count;
    struct spread s = {.blocks = (double)grid[0] * grid[1] * grid[2],
                       .warps = ceil((double)block[0] * block[1] * block[2] / LANES),
                       .cycle_ps = cycle_ps(t, op->device)};
    double fit = op->counts->blocks_fit > 0 ? (double)op->counts->blocks_fit : 1;
    s.most = ceil(s.blocks / processors);
    s.waves = ceil(s.most / fit);
    return s;
}

uint64_t kernel_conflict_ps(const struct topology *t, const struct op *op)
{
    if (!op->counts || op->counts->conflicts == 0)
        return 0;
    struct spread s = spread_blocks(t, op);
    return whole_of((double)op->counts->conflicts / s.blocks * s.most * s.cycle_ps);
}

/* ---- memory ---- */

/* The most bytes of the GPU's own memory that it can have touched. */
static double footprint(const struct op *op, const struct vgpu_run_counts *c)
{
    double read = fmax((double)c->read_moved[op->device], (double)c->read_pairs);
    double moved = read + (double)c->write_pairs;
    double reach = (double)op->u.kernel.reach_bytes;
    return reach > 0 && reach < moved ? reach : moved;
}

/* What it works on is in L2 from the start, as after an earlier kernel. */
static bool stays_in_l2(const struct topology *t, const struct op *op,
                        const struct vgpu_run_counts *c)
{
    const struct processor *p = processor_of(t, op);
    return p->l2_share > 0 &&
           footprint(op, c) <= p->l2_share * (double)t->info.device[op->device].l2_bytes;
}

/* The bytes that a kernel reads beyond the size of all memory that its arguments point to: they are
 * read again, from L2, if that memory fits into half of it (each half of L2 caches the reads of its
 * processors). */
static double read_again(const struct topology *t, const struct op *op, double read)
{
    double reach = (double)op->u.kernel.reach_bytes;
    if (t->cost.kernel_l2_bytes_s <= 0 || reach <= 0 || read <= reach ||
        reach > (double)t->info.device[op->device].l2_bytes / 2)
        return 0;
    return read - reach;
}

uint64_t kernel_moved_bytes(const struct topology *t, const struct op *op,
                            const struct vgpu_run_counts *c)
{
    uint64_t read = c->read_moved[op->device];
    return read - whole_of(read_again(t, op, (double)read)) + c->write_moved[op->device];
}

/* A sector that is written in parts takes longer than one that is written at once. */
static double weigh_parts(const struct processor *p, const struct vgpu_run_counts *c, int m)
{
    double used = (double)c->write_bytes[m], moved = (double)c->write_moved[m];
    if (p->l2_share <= 0 || moved <= used || c->atomic_requests > 0)
        return 1;
    return 1 + (1 - used / moved) / PARTIAL_WEIGHT;
}

/* Memory writes pairs of sectors; those that are not written whole are read before. */
static double weigh_pairs(const struct vgpu_run_counts *c, int m, double weight)
{
    double pairs = (double)c->write_pairs;
    bool filled = pairs >= FILLED * (double)c->write_bytes[m] && pairs > 0;
    return filled ? pairs * (weight + 1) : pairs * weight;
}

double kernel_weighed_bytes(const struct topology *t, const struct op *op,
                            const struct vgpu_run_counts *c)
{
    int m = op->device;
    double read = (double)c->read_moved[m], written = (double)c->write_moved[m];
    double l2 =
        t->cost.kernel_l2_bytes_s > 0 ? t->memory_bytes_s[m] / t->cost.kernel_l2_bytes_s : 1;
    double parts = weigh_parts(processor_of(t, op), c, m);
    if (!op->clock.slices && stays_in_l2(t, op, c))
        return read * l2 +
               (parts > 1 ? written * t->cost.kernel_write_weight * parts : written * l2);
    double again = read_again(t, op, read), weight = t->cost.kernel_write_weight;
    if (processor_of(t, op)->slots <= 0 || op->clock.slices)
        return read - again + again * l2 + written * weight;
    double reads = again > 0 ? read - again + again * l2 : fmax(read, (double)c->read_pairs);
    return reads + fmax(written * weight * parts, weigh_pairs(c, m, weight));
}

/* How long its flows take if it is alone. */
static double memory_ps(const struct topology *t, const struct op *op)
{
    const struct vgpu_run_counts *c = op->counts;
    double longest = kernel_weighed_bytes(t, op, c) / (t->memory_bytes_s[op->device] * 1e-12);
    for (int m = 0; m < t->info.device_count; m++) {
        double bytes =
            (double)(c->read_moved[m] > c->write_moved[m] ? c->read_moved[m] : c->write_moved[m]);
        if (m != op->device)
            longest = fmax(longest, bytes / (t->cost.kernel_peer_bytes_s * 1e-12));
    }
    double host = (double)(c->read_moved[VGPU_MAX_DEVICES] > c->write_moved[VGPU_MAX_DEVICES]
                               ? c->read_moved[VGPU_MAX_DEVICES]
                               : c->write_moved[VGPU_MAX_DEVICES]);
    return fmax(longest, host / (t->path[PATH_H2D_PINNED].bytes_s * 1e-12));
}

/* ---- processors ---- */

/* How many blocks like the first one have done all that was done. */
static double blocks_done(const struct vgpu_run_counts *c, const struct spread *s)
{
    double accesses = (double)(c->accesses + c->shared_accesses);
    return c->work.accesses > 0 ? accesses / (double)c->work.accesses : s->blocks;
}

static double units_ps(const struct processor *p, const struct vgpu_run_counts *c,
                       const struct spread *s)
{
    const struct vgpu_work *w = &c->work;
    double cycles =
        fmax((double)w->slots * LANES / p->slots, (double)w->integers * LANES / p->integers);
    cycles = fmax(cycles, (double)w->doubles * LANES / p->doubles);
    cycles = fmax(cycles, (double)w->special * LANES / p->special);
    cycles *= blocks_done(c, s) / s->blocks;
    double lanes = (double)c->shared_accesses + (double)c->shuffles;
    double lines = (double)c->lines * p->line_cycles;
    cycles = fmax(cycles, (lanes / LANES + lines) / s->blocks);
    cycles = fmax(cycles, (double)c->barriers / s->blocks * s->warps * p->barrier_cycles);
    return cycles * s->most * s->cycle_ps;
}

static double latency_ps(const struct topology *t, const struct op *op, const struct spread *s)
{
    const struct processor *p = processor_of(t, op);
    const struct vgpu_run_counts *c = op->counts;
    double load = stays_in_l2(t, op, c) ? p->l2_ps : p->memory_ps;
    double cycles =
        (double)c->work.chain + (double)c->barriers / s->blocks * s->warps * p->barrier_cycles;
    double block = cycles * s->cycle_ps + (double)c->work.loads / VGPU_WORK_ROUNDS * load +
                   p->block_ps + s->warps * p->warp_ps;
    return s->waves * block;
}

/* Requests to one line wait for each other; of several lines some meet in a part of L2. */
static double atomics_ps(const struct processor *p, const struct vgpu_run_counts *c)
{
    if (c->atomic_lines == 0)
        return 0;
    double one = c->atomic_floats ? p->atomic_float_ps : p->atomic_ps;
    double spread = c->atomic_lines > 1 ? p->atomic_spread : 1;
    return (double)c->atomic_requests * one * spread / (double)c->atomic_lines;
}

uint64_t kernel_extra_ps(const struct topology *t, const struct op *op)
{
    const struct processor *p = processor_of(t, op);
    const struct vgpu_run_counts *c = op->counts;
    if (p->slots <= 0 || op->clock.slices)
        return kernel_conflict_ps(t, op);
    struct spread s = spread_blocks(t, op);
    double memory = memory_ps(t, op), latency = latency_ps(t, op, &s);
    double units = units_ps(p, c, &s), longest = hypot(memory, latency);
    longest = fmax(longest, pow(pow(units, 4) + pow(latency, 4), 0.25));
    longest = fmax(longest, hypot(latency, s.blocks * p->launch_ps));
    longest = fmax(longest, atomics_ps(p, c));
    longest += c->accesses > 0 && op->graph != VGPU_GRAPH_NEXT ? p->first_access_ps : 0;
    return whole_of(longest - memory) + kernel_conflict_ps(t, op);
}
