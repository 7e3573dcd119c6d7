/* SPDX-License-Identifier: MIT
 * order.c: see weak.h: fences, barriers, and the order of kernels.
 */
#include "weak.h"

#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "view.h"

/* ---- fences ---- */

void weak_acquire(int scope)
{
    struct weak_thread *own = now.thread->weak;
    for (int s = 0; own && own->fences && s <= scope && s < WEAK_SCOPES; s++)
        view_join(&own->seen, &own->fences->unfenced[s]);
}

static void meet_fences(struct vgpu_weak_view *seen, struct vgpu_weak_view *others)
{
    view_join(seen, others);
    view_join(others, seen);
}

/* All fence.sc whose scopes include each other's threads have one order. Two rounds, since what one
 * order says is part of the others. */
static void order_fence(struct weak_thread *own, int scope)
{
    struct vgpu_weak_table *table = weak_table();
    for (int round = 0; round < 2; round++) {
        meet_fences(&own->seen, &weak_block_of(now.block)->fenced);
        if (scope > 0)
            meet_fences(&own->seen, &table->fence_gpu[context.device % VGPU_WEAK_GPUS]);
        if (scope > 1)
            meet_fences(&own->seen, &table->fence_system);
    }
}

void weak_fence(int scope, bool sequential)
{
    if (!now.run->weak)
        return;
    weak_settle();
    struct weak_thread *own = weak_own(now.thread);
    weak_acquire(scope);
    if (sequential)
        order_fence(own, scope);
    struct weak_fences *f = weak_fences_of(own);
    f->last++;
    for (int s = 0; s <= scope && s < WEAK_SCOPES; s++) {
        f->released[s] = own->seen;
        f->number[s] = f->last;
    }
}

/* ---- barriers ---- */

static void gather_block(struct block *block, struct vgpu_weak_view *all)
{
    view_join(all, block->weak ? &block->weak->seen : &block->run->weak->at_start);
    for (uint32_t i = 0; i < block->thread_count; i++)
        if (block->threads[i].weak)
            view_join(all, &block->threads[i].weak->seen);
}

static void tell_block(struct block *block, const struct vgpu_weak_view *all)
{
    weak_block_of(block)->seen = *all;
    for (uint32_t i = 0; i < block->thread_count; i++) {
        struct weak_thread *own = block->threads[i].weak;
        if (own && !own->fences)
            weak_disown(&block->threads[i]);
        else if (own)
            own->seen = *all;
    }
}

void weak_block_meets(struct block *block)
{
    struct vgpu_weak_view all = {0};
    if (!block->run->weak)
        return;
    weak_settle();
    gather_block(block, &all);
    tell_block(block, &all);
}

void weak_lanes_meet(struct warp *warp, uint32_t lanes)
{
    struct vgpu_weak_view all = {0};
    if (!warp->threads->block->run->weak)
        return;
    weak_settle();
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        view_join(&all, weak_seen(&warp->threads[__builtin_ctz(rest)]));
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        weak_own(&warp->threads[__builtin_ctz(rest)])->seen = all;
}

struct weak_sum {
    struct vgpu_weak_view seen;
};

void weak_sums_up(struct weak_sum **all)
{
    if (!now.run->weak)
        return;
    weak_settle();
    if (!*all)
        *all = calloc(1, sizeof **all);
    if (*all)
        view_join(&(*all)->seen, weak_seen(now.thread));
}

void weak_joins(struct thread *thread, struct weak_sum *all)
{
    if (all)
        view_join(&weak_own(thread)->seen, &all->seen);
}

void weak_cluster_meets(struct cluster *cluster)
{
    struct vgpu_weak_view all = {0};
    if (!now.run->weak)
        return;
    weak_settle();
    for (uint32_t i = 0; i < VGPU_CLUSTER_BLOCKS_MAX; i++)
        if (cluster->member[i])
            gather_block(cluster->member[i], &all);
    for (uint32_t i = 0; i < VGPU_CLUSTER_BLOCKS_MAX; i++)
        if (cluster->member[i])
            tell_block(cluster->member[i], &all);
}

void weak_grid_meets(struct run *run)
{
    struct vgpu_weak_view all = {0};
    if (!run->weak)
        return;
    weak_settle();
    for (struct block *block = run->resident; block; block = block->next)
        gather_block(block, &all);
    for (struct block *block = run->resident; block; block = block->next)
        tell_block(block, &all);
}

/* ---- kernels ---- */

static struct vgpu_weak_view *view_at_end(const struct run *run)
{
    int32_t slot = run->weak->slot;
    return slot >= 0 ? &weak_table()->run[slot % VGPU_WEAK_RUNS] : &weak_table()->floor;
}

/* The kernel that had the slot before is so old that all others are after it. */
void weak_run_begins(struct run *run, int32_t slot, uint64_t after)
{
    struct vgpu_weak_table *table = weak_table();
    run->weak = calloc(1, sizeof *run->weak);
    if (!run->weak)
        return;
    run->weak->slot = slot;
    if (slot >= 0) {
        view_join(&table->floor, view_at_end(run));
        memset(view_at_end(run), 0, sizeof table->floor);
    }
    view_join(&run->weak->at_start, &table->floor);
    for (int s = 0; s < VGPU_WEAK_RUNS; s++)
        if (after >> s & 1)
            view_join(&run->weak->at_start, &table->run[s]);
}

void weak_thread_ends(struct thread *thread)
{
    if (!thread->weak)
        return;
    weak_settle();
    view_join(view_at_end(thread->block->run), &thread->weak->seen);
    weak_disown(thread);
}

void weak_block_ends(struct block *block)
{
    if (!block->run->weak)
        return;
    for (uint32_t i = 0; i < block->thread_count; i++)
        weak_thread_ends(&block->threads[i]);
    if (block->weak)
        view_join(view_at_end(block->run), &block->weak->seen);
    free(block->weak);
    block->weak = NULL;
}

void weak_run_ends(struct run *run)
{
    if (run->weak)
        view_join(view_at_end(run), &run->weak->at_start);
    free(run->weak);
    run->weak = NULL;
}
