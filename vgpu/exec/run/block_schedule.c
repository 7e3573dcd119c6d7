/* SPDX-License-Identifier: MIT
 * block_schedule.c: chooses the block that runs next, and detects that none can.
 *
 * Blocks run one after another. A block whose threads all wait stays resident, and the scheduler
 * tries, in this order: a block with ready threads; a polling thread whose value has changed; a lap
 * of the threads that began to poll, to see whether they do anything else (polling.c); another
 * block, up to the number that a GPU holds at once; a lap of all pollers. After that the kernel is
 * stalled: only another kernel, a copy or the host can let it continue.
 */
#include "block.h"
#include "block_schedule.h"
#include "builtins.h"
#include "fault.h"
#include "fiber.h"
#include "grid.h"
#include "lane_run.h"
#include "memory_signals.h"
#include "polling.h"
#include "traps.h"
#include "weak.h"
#include "work.h"
#include "worker_process.h"

#include <stdio.h>

enum { FRUITLESS_LAPS = 1000 };

static struct block *ready_block(const struct run *run)
{
    struct block *block = run->resident;
    while (block && !block->ready_warps)
        block = block->next;
    return block;
}

/* All threads wait at barriers of their own block: no other block can release them. */
static void report_deadlock(struct block *block)
{
    char text[400], at[40];
    for (uint32_t i = 0; i < block->thread_count && !now.thread; i++)
        if (block->threads[i].warp->live & block->threads[i].bit)
            now.thread = &block->threads[i];
    dim3_text(at, sizeof at, block->idx);
    block_describe(block, text, sizeof text);
    if (now.thread->site)
        fault_place(now.thread->site);
    fault_raise(VGPU_FAULT_BARRIER, 0, false, 0, "deadlock in block %s: %s", at, text);
}

/* Runs a block until none of its threads can run, or it pauses so that workers can be started. */
static void enter_block(struct block *block)
{
    now.block = block;
    if (UNLIKELY(block == sample_block))
        sample_goes_on();
    blockIdx = block->idx;
    blockDim = now.run->shape;
    gridDim = now.run->grid;
    vgpu_cooperative = now.run->cooperative;
    now.warp = &block->warps[__builtin_ctz(next_bit(block->ready_warps))];
    struct thread *first = pick();
    if (!first)
        return;
    fiber_switch(&fiber_main, thread_enter(first));
    if (UNLIKELY(now.run->weak != NULL))
        weak_settle();
    if (UNLIKELY(block == work_block))
        work_pause();
    now.thread = NULL;
    traps_check_hang();
    if (!block->live)
        block_retire(block);
    else if (!block->pollers && !block->ready_warps)
        report_deadlock(block);
}

static void wake_thread(struct thread *thread)
{
    struct warp *warp = thread->warp;
    warp->polling &= ~thread->bit;
    warp->ready |= thread->bit;
    thread->block->pollers--;
    thread->block->ready_warps |= warp->bit;
    poll_woken(thread);
}

/* Calls `act`, which may wake it, for every thread that polls. True if any call returned true. */
static bool any_poller(const struct run *run, bool (*act)(struct thread *))
{
    bool any = false;
    for (struct block *block = run->resident; block; block = block->next)
        for (uint32_t i = 0; block->pollers && i < block->warp_count; i++)
            for (uint32_t rest = block->warps[i].polling; rest; rest &= rest - 1)
                any |= act(block->warps[i].threads + __builtin_ctz(rest));
    return any;
}

static bool wake_changed(struct thread *thread)
{
    now.thread = thread; /* reported if the memory is gone */
    uint64_t value = peek(thread->poll.address, thread->poll.bytes);
    bool changed = value != thread->poll.value;
    now.thread = NULL;
    if (changed) { /* it continues before its load, and will not report this poll again */
        signal_polled(thread->poll.address, value, thread->poll.bytes);
        wake_thread(thread);
    }
    return changed;
}

static bool wake_unproven(struct thread *thread)
{
    if (thread->poll.proven)
        return false;
    wake_thread(thread);
    return true;
}

static bool wake_for_lap(struct thread *thread)
{
    if (thread->poll.late)
        return false;
    wake_thread(thread);
    return true;
}

/* Lets pollers run for a few iterations of their loops. True if any of them made progress. */
static bool run_lap(struct run *run, bool (*wake)(struct thread *))
{
    uint64_t events = run->events;
    struct block *block;
    if (!any_poller(run, wake))
        return false;
    run->stirred = false;
    poll_suspect(true);
    while ((block = ready_block(run)))
        enter_block(block);
    poll_suspect(false);
    return run->stirred || run->events != events;
}

static bool waits_for_time(struct thread *thread)
{
    return thread->poll.timed;
}

static void explain_deadlock(const struct run *run, char *why, uint64_t room)
{
    char waits[300], at[40], left[80] = "";
    const struct block *block = run->resident;
    dim3_text(at, sizeof at, block->idx);
    block_describe(block, waits, sizeof waits);
    if (run->next_block < run->block_count)
        snprintf(left, sizeof left, "; %llu blocks wait until one of these %llu has ended",
                 (unsigned long long)(run->block_count - run->next_block),
                 (unsigned long long)run->resident_count);
    else if (run->resident_count > 1)
        snprintf(left, sizeof left, "; and %llu blocks more",
                 (unsigned long long)run->resident_count - 1);
    snprintf(why, room, "%s: block %s: %s%s", run->kernel->name, at, waits, left);
}

enum vgpu_exec_status schedule_blocks(struct run *run, char *why, uint64_t room)
{
    uint64_t events = run->events;
    uint32_t fruitless = 0;
    for (;;) {
        struct block *block = ready_block(run);
        if (!block && !run->resident) {
            workers_consider(run);
            if (lanes_go(run))
                continue;
            block = block_start(run);
        }
        if (block) {
            enter_block(block);
            if (UNLIKELY(run->due > 0))
                workers_start_if_due(run);
            continue;
        }
        if (!run->resident)
            return VGPU_RAN;
        traps_check_hang();
        fruitless = run->events == events ? fruitless + 1 : 0;
        events = run->events;
        if (any_poller(run, wake_changed))
            continue;
        if (fruitless < FRUITLESS_LAPS && run_lap(run, wake_unproven))
            continue;
        if (block_start(run))
            continue;
        if (fruitless < FRUITLESS_LAPS && run_lap(run, wake_for_lap))
            continue;
        /* Threads that let other kernels run first have done so when they are carried on with. */
        run->moved |=
            any_poller(run, poll_ends_late) || run->stirred || any_poller(run, waits_for_time);
        explain_deadlock(run, why, room);
        return VGPU_STALLED;
    }
}
