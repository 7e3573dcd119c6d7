/* SPDX-License-Identifier: MIT
 * lane_run.c: see lane_run.h.
 *
 * Blocks are checked in batches, each in one row of the grid: one range analysis for all of them,
 * and one check that the ranges lie in allocated memory. A batch that fails is halved, down to one
 * block, which then runs in the careful form.
 */
#include "lane_run.h"

#include "block.h"
#include "bounds.h"
#include "counters.h"
#include "device_image.h"
#include "fiber.h"
#include "grid.h"
#include "lane_cases.h"
#include "lane_ranges.h"
#include "mapped_memory.h"
#include "run.h"
#include "sample.h"
#include "shared_memory.h"
#include "sweep.h"
#include "traps.h"
#include "work.h"
#include "worker_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_MAX = 64, WIDE_THREADS = 8, CASES_BLOCKS = 16 };
enum { SHARED_GAPS = 16 * VGPU_LANE_SHARED_MAX /* between variables */ };

/* ---- may the run use the fast form ---- */

/* VGPU_FORM=careful|fast; fast if it is not set. */
static bool form_is_fast(void)
{
    const char *form = getenv("VGPU_FORM");
    return (!form || strcmp(form, "careful") != 0) &&
           !getenv("VGPU_DEBUGGER"); /* a debugger needs threads */
}

static const char *why_careful(const struct run *run)
{
    if (!form_is_fast())
        return "VGPU_FORM=careful";
    if (!run->kernel->lanes)
        return run->kernel->careful ? run->kernel->careful : "it was compiled with -check-indices";
    if (run->cluster_blocks > 1)
        return "its blocks are launched in clusters";
    if (access_limit != WINDOW_IMAGE)
        return "its accesses are looked at (VGPU_CHECK)";
    if (lane_order != LANES_FORWARD || run->block_step)
        return "its threads run in another order (VGPU_LANES, VGPU_SCHEDULE)";
    if (run->kernel->lanes->shared_count &&
        run->shared_bytes + run->kernel->static_shared_bytes + SHARED_GAPS >
            context.limits.shared_per_block)
        return "its shared memory may be too large";
    return NULL;
}

/* ---- shared memory ---- */

static struct block *stand_in; /* for all threads, one block after another */
static void *shared[VGPU_LANE_SHARED_MAX];

/* As the careful form's first thread does it. */
static void lay_out_shared(const struct vgpu_lanes *lanes)
{
    now.block = stand_in;
    shared_start(stand_in, true);
    for (uint32_t i = 0; i < lanes->shared_count; i++) {
        const struct vgpu_lane_shared *s = &lanes->shared[i];
        shared[i] = s->id ? vgpu_shared(s->id, s->bytes, s->align) : vgpu_dynamic_shared();
    }
}

/* Its place is the next block's. */
static void end_shared(void)
{
    shared_end(stand_in);
    now.block = NULL;
}

/* ---- does it stay where it may ---- */

/* Whether the node knows already that the run stores there (memory_signals.h), or need not know. */
static bool is_signalled(const struct run *run, const struct lane_range *r)
{
    const struct vgpu_signals *s = &run->signals;
    bool found = s->stored_count == VGPU_SIGNALS || window_of((uint64_t)r->low) > WINDOW_HOST;
    for (uint32_t i = 0; i < s->stored_count && r->low == r->high && !found; i++)
        found = s->stored[i] == (uint64_t)r->low;
    return found;
}

static bool stays_in_object(const struct run *run, uint32_t object, uint64_t first, uint64_t end)
{
    uint64_t low, high;
    lane_object(run->kernel->lanes, run->args, object, &low, &high);
    return first >= low && end <= high;
}

static bool access_stays(const struct run *run, const struct vgpu_lane_access *a,
                         const struct lane_range *r)
{
    uint64_t first = (uint64_t)r->low, end = (uint64_t)r->high + a->bytes;
    if (r->low <= 0 || r->high >= INT64_MAX / 2 || a->aligned > 1ull << r->zeros ||
        window_of(first) != window_of(end - 1) || (a->atomic && !is_signalled(run, r)))
        return false;
    if (a->object)
        return stays_in_object(run, a->object - 1u, first, end);
    if (window_of(first) == WINDOW_SHARED)
        return shared_holds(stand_in, first, end);
    if (window_of(first) >= WINDOW_IMAGE)
        return image_holds(first, end);
    return window_of(first) <= WINDOW_HOST && memory_allows(first, end, a->write) &&
           bounds_hold(first, end);
}

static void put_dim3(int64_t to[3], struct vgpu_dim3 from)
{
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

/* The indices (enum vgpu_lane_index) of the block's first thread, and addresses. */
static void put_known(const struct run *run, uint64_t block, int64_t index[VGPU_LANE_KNOWN])
{
    put_dim3(index + VGPU_LANE_THREAD, (struct vgpu_dim3){0, 0, 0});
    put_dim3(index + VGPU_LANE_BLOCK, run_block_index(run, block));
    put_dim3(index + VGPU_LANE_BLOCK_DIM, run->shape);
    put_dim3(index + VGPU_LANE_GRID_DIM, run->grid);
    for (int i = 0; i < VGPU_LANE_SHARED_MAX; i++)
        index[VGPU_LANE_SHARED + i] = (int64_t)shared[i];
}

/* ---- case by case ---- */

enum { NOT_ASKED, PROVED, NOT_PROVED };

/* The answers about accesses and demands that intervals leave open, for one run: they are the same
 * for all blocks as long as __shared__ memory lies at the same place. */
static struct {
    uint8_t access[VGPU_LANE_ACCESSES], demand[VGPU_LANE_STEPS];
    uint64_t first[VGPU_LANE_ACCESSES]; /* of a proved access: the lowest address */
    void *shared[VGPU_LANE_SHARED_MAX];
} proofs;

struct access_in_run {
    const struct run *run;
    const struct vgpu_lane_access *access;
};

static bool access_holds(const struct lane_range *r, const void *of)
{
    const struct access_in_run *a = of;
    return access_stays(a->run, a->access, r);
}

static bool demand_takes(const struct lane_range *r, const void *of)
{
    return lane_demand_takes(of, r);
}

static bool is_worth_it(const struct run *run)
{
    return run->claimed - run->next_block >= CASES_BLOCKS;
}

static bool access_is_proved(const struct run *run, uint32_t i, struct lane_question q)
{
    const struct access_in_run of = {run, &run->kernel->lanes->access[i]};
    struct lane_range all;
    if (proofs.access[i] == NOT_ASKED && is_worth_it(run)) {
        q.step = of.access->step, q.place = of.access->place;
        q.holds = access_holds, q.of = &of;
        bool holds = lane_holds_in_cases(&q, &all) &&
                     window_of((uint64_t)all.low) == window_of((uint64_t)all.high);
        proofs.access[i] = holds ? PROVED : NOT_PROVED;
        proofs.first[i] = (uint64_t)all.low;
    }
    return proofs.access[i] == PROVED;
}

static bool demand_is_proved(const struct run *run, uint32_t i, struct lane_question q)
{
    const struct vgpu_lane_demand *d = &run->kernel->lanes->demand[i];
    struct lane_range all;
    if (d->kind != VGPU_DEMAND_DIVISOR || i >= VGPU_LANE_STEPS)
        return false;
    if (proofs.demand[i] == NOT_ASKED && is_worth_it(run)) {
        q.step = d->step, q.place = d->place;
        q.holds = demand_takes, q.of = d;
        proofs.demand[i] = lane_holds_in_cases(&q, &all) ? PROVED : NOT_PROVED;
    }
    return proofs.demand[i] == PROVED;
}

static void forget_proofs(void)
{
    memset(&proofs, 0, sizeof proofs);
    memcpy(proofs.shared, shared, sizeof shared);
}

/* ---- a batch ---- */

/* Why one of the demands does not hold; NULL: all do. */
static const char *failed_demand(const struct run *run, const struct lane_range *range, bool edge,
                                 const struct lane_question *q)
{
    const struct vgpu_lanes *lanes = run->kernel->lanes;
    for (uint32_t i = 0; i < lanes->demand_count; i++) {
        const struct vgpu_lane_demand *d = &lanes->demand[i];
        if (!lane_demand_holds(d, range, edge) && !demand_is_proved(run, i, *q))
            return lane_demand_reason(d);
    }
    return NULL;
}

/* Checks blocks `first` and following, all in one row of the grid. edge: some of their threads may
 * leave early. */
static bool blocks_stay(struct run *run, uint64_t first, uint64_t count, bool edge,
                        struct lane_range *range)
{
    const struct vgpu_lanes *lanes = run->kernel->lanes;
    int64_t low[VGPU_LANE_KNOWN], high[VGPU_LANE_KNOWN];
    put_known(run, first, low);
    put_known(run, first + count - 1, high);
    for (int i = 0; i < 3; i++)
        high[VGPU_LANE_THREAD + i] = high[VGPU_LANE_BLOCK_DIM + i] - 1;
    const struct lane_question q = {lanes, run->args, low, high, 0, 0, NULL, NULL};
    lane_ranges(lanes, run->args, low, high, range);
    if (memcmp(proofs.shared, shared, sizeof shared) != 0)
        forget_proofs();
    run->lanes.refused = failed_demand(run, range, edge, &q);
    for (uint32_t i = 0; i < lanes->access_count && !run->lanes.refused; i++)
        if (lane_reaches(range, lanes->access[i].place) &&
            !access_stays(run, &lanes->access[i], &range[lanes->access[i].step]) &&
            !access_is_proved(run, i, q))
            run->lanes.refused = "its accesses may leave allocated memory";
    return !run->lanes.refused;
}

/* ---- the wide form ---- */

static bool processor_is_wide(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

static bool is_apart(const struct vgpu_lanes *lanes, const struct lane_range *range,
                     const struct vgpu_lane_pair *pair)
{
    const struct vgpu_lane_access *a = &lanes->access[pair->a], *b = &lanes->access[pair->b];
    return !lane_reaches(range, a->place) || !lane_reaches(range, b->place) ||
           range[a->step].high + a->bytes <= range[b->step].low ||
           range[b->step].high + b->bytes <= range[a->step].low;
}

/* Whether the blocks with these ranges may run in the wide form. In narrow ones, a kernel that is
 * divided more often does not pay. */
static bool blocks_are_wide(const struct run *run, const struct lane_range *range)
{
    const struct vgpu_lanes *lanes = run->kernel->lanes;
    if (!lanes->wide || !processor_is_wide() || (lanes->apart_count && run->shape.x < WIDE_THREADS))
        return false;
    for (uint32_t i = 0; i < lanes->apart_count; i++)
        if (!is_apart(lanes, range, &lanes->apart[i]))
            return false;
    return true;
}

/* ---- running blocks ---- */

/* As the careful form counts accesses of variables (access.c). */
static uint64_t counted_window(uint64_t address)
{
    uint64_t window = window_of(address);
    return window < WINDOW_IMAGE ? window : (uint64_t)context.device;
}

/* Banks of shared memory serve the read and the write of an atomic as one access. */
static void count_atomic(struct run *run, uint32_t kind, uint64_t address, uint64_t times)
{
    uint64_t window = window_of(address);
    access_count[false][kind][counted_window(address)] += window == WINDOW_SHARED ? 0 : times;
    run->counts.atomics += times;
    contention_add(run, window, times);
    run->stirred = true;
}

static void count_accesses(struct run *run, const struct lane_range *range, const uint64_t *count)
{
    const struct vgpu_lanes *lanes = run->kernel->lanes;
    for (uint32_t i = 0; i < lanes->access_count; i++) {
        const struct vgpu_lane_access *a = &lanes->access[i];
        uint64_t times = count[a->counter];
        if (times == 0 || a->object)
            continue;
        uint64_t address =
            proofs.access[i] == PROVED ? proofs.first[i] : (uint64_t)range[a->step].low;
        uint64_t window = counted_window(address);
        uint32_t kind = a->range ? ACCESS_RANGE : (uint32_t)__builtin_ctz(a->bytes);
        access_count[a->write][kind][window] += times;
        if (a->atomic)
            count_atomic(run, kind, address, times);
        if (a->range)
            access_count[a->write][ACCESS_BYTES][window] += times * a->bytes;
    }
}

/* As a trap tells it in the careful form. */
static void find_divisions(const struct run *run, const uint64_t *count)
{
    const struct vgpu_lanes *lanes = run->kernel->lanes;
    for (uint32_t i = 0; i < lanes->division_count; i++)
        if (count[lanes->division[i].counter])
            traps_tell_division(lanes->division[i].place);
}

/* A signal handler needs a thread: the block's first stands for all of them. */
static void run_block(struct run *run, uint64_t *count)
{
    int64_t wide[VGPU_LANE_KNOWN];
    uint32_t index[VGPU_LANE_INDICES];
    put_known(run, run->next_block, wide);
    for (int i = 0; i < VGPU_LANE_INDICES; i++)
        index[i] = (uint32_t)wide[i];
    stand_in->number = run->next_block;
    stand_in->idx = run_block_index(run, run->next_block);
    now.warp = stand_in->warps;
    now.thread = stand_in->threads;
    lay_out_shared(run->kernel->lanes);
    run->lanes.go(run->args, index, count, shared);
    end_shared();
    now.thread = NULL;
    now.warp = NULL;
    run->next_block++;
    run->done_blocks++;
    run->counts.fast_blocks++;
    run->counts.threads += run->block_threads;
    run->events++;
    progress();
    traps_check_hang();
}

/* The next blocks that this process has claimed, in one row, in the careful form's order. */
static uint64_t next_batch(struct run *run)
{
    uint64_t left = run->claimed - run->next_block,
             row = run->grid.x - run->next_block % run->grid.x;
    uint64_t batch = run->lanes.batch;
    batch = batch < left ? batch : left;
    return batch < row ? batch : row;
}

/* Checks the next blocks, fewer and fewer of them, and chooses what runs them. */
static uint64_t find_batch(struct run *run, struct lane_range *range)
{
    const struct vgpu_lanes *lanes = run->kernel->lanes;
    uint64_t batch = next_batch(run);
    lay_out_shared(lanes); /* where each block's will lie */
    while (batch > 0 && !blocks_stay(run, run->next_block, batch, false, range))
        batch /= 2;
    bool edge = batch == 0 && lanes->edge && blocks_stay(run, run->next_block, 1, true, range);
    end_shared();
    run->lanes.batch = batch == 0                         ? 1
                       : 2 * run->lanes.batch < BATCH_MAX ? 2 * run->lanes.batch
                                                          : BATCH_MAX;
    run->lanes.go = edge                                       ? lanes->edge
                    : batch > 0 && blocks_are_wide(run, range) ? lanes->wide
                                                               : lanes->run;
    return edge ? 1 : batch;
}

void lanes_begin(struct run *run)
{
    sweeps_allow(form_is_fast());
    run->lanes.careful = why_careful(run);
    snprintf(context.control->careful, sizeof context.control->careful, "%s",
             run->lanes.careful ? run->lanes.careful : "");
    run->lanes.refused = "all of its blocks are looked at (the first, and samples)";
    run->lanes.batch = 1;
    forget_proofs();
}

bool lanes_go(struct run *run)
{
    static struct lane_range range[VGPU_LANE_STEPS];
    uint64_t count[VGPU_LANE_COUNTERS + 2] = {0};
    if (run->lanes.careful || (run->next_block == run->claimed && !worker_claim(run)) ||
        sample_wants(run, run->next_block) || contention_wants(run, run->next_block))
        return false;
    if (!stand_in)
        stand_in = block_stand_in();
    stand_in->run = run;
    uint64_t batch = find_batch(run, range);
    uint64_t done = 0;
    for (; done < batch && worker_starts_block(run->next_block); done++)
        run_block(run, count);
    run_count_done(done);
    count_accesses(run, range, count);
    find_divisions(run, count);
    run->counts.barriers += count[run->kernel->lanes->counter_count];
    run->counts.shuffles += count[run->kernel->lanes->counter_count + 1];
    if (done >= BLOCKS_A_LOOK)
        run->looks = (run->looks + BLOCKS_A_LOOK - 1) / BLOCKS_A_LOOK * BLOCKS_A_LOOK;
    return done > 0;
}
