/* SPDX-License-Identifier: MIT
 * barrier.c: __syncthreads and its three reducing forms, and the barrier of a cooperative grid.
 *
 * All threads of a block that have not left the kernel must arrive, as on hardware since Volta.
 * That they arrive at different lines, or that some have left, is noted and does not stop them.
 */
#include "exec.h"
#include "fiber.h"

#include <string.h>

static void release(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *warp = &block->warps[i];
        warp->ready = warp->live; /* whoever lives has arrived */
        if (warp->ready)
            block->ready_warps |= warp->bit;
    }
    block->result = block->votes;
    block->result_of = block->live;
    block->votes = 0;
    block->missing = block->live;
    block->site = NULL;
    block->clock = block->clock_met;
    block->run->counts.barriers++;
    block->run->events++;
    progress();
}

static void note_sites(const struct thread *thread, const char *site)
{
    char at[40], first[40];
    const struct block *block = thread->block;
    if (strcmp(site, block->site) == 0)
        return;
    dim3_text(first, sizeof first, block->idx);
    dim3_text(at, sizeof at, thread->idx);
    run_finding(FINDING_SITES,
                "threads of block %s meet in different barriers: %s in %s, others in %s; all "
                "threads must reach the same __syncthreads",
                first, at, site, block->site);
}

static void note_early_exit(const struct block *block)
{
    char at[40];
    dim3_text(at, sizeof at, block->idx);
    run_finding(FINDING_EARLY_EXIT,
                "%u of %u threads of block %s had left the kernel when the others met in %s: "
                "undefined before Volta, and easily a deadlock; let them reach the barrier too",
                block->thread_count - block->live, block->thread_count, at, block->site);
}

void barrier_left(struct block *block)
{
    note_early_exit(block);
    release(block);
}

static inline __attribute__((always_inline)) void arrive(const char *site, uint32_t vote)
{
    struct thread *thread = now.thread;
    struct block *block = now.block;
    thread->site = site;
    block->votes += vote;
    if (!block->site)
        block->site = site;
    else if (UNLIKELY(site != block->site))
        note_sites(thread, site);
    if (--block->missing == 0) {
        if (UNLIKELY(block->live < block->thread_count))
            note_early_exit(block);
        release(block);
    }
    park(thread);
}

OFFERED void vgpu_syncthreads(const char *site)
{
    arrive(site, 0);
}

OFFERED int vgpu_syncthreads_reduce(int op, int predicate, const char *site)
{
    arrive(site, predicate != 0);
    uint32_t yes = now.block->result;
    if (op == 1)
        return yes == now.block->result_of;
    return op == 2 ? yes != 0 : (int)yes;
}

/* ---- the grid ---- */

/* Waiting is polling, as a barrier in device code would: the scheduler knows how to go on. */
OFFERED void vgpu_grid_meet(uint64_t blocks)
{
    struct run *run = now.run;
    uint32_t phase = run->grid_phase;
    if (++run->grid_arrived < blocks) {
        while (run->grid_phase == phase)
            poll_note((uint64_t)&run->grid_phase, phase, sizeof run->grid_phase);
        return;
    }
    run->grid_arrived = 0;
    run->grid_phase++;
    run->counts.barriers++;
    run->events++;
    progress();
}
