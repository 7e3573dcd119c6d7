/* SPDX-License-Identifier: MIT
 * barrier.c: __syncthreads and its three reducing forms, and the barrier of a cooperative grid.
 *
 * All threads of a block that have not left the kernel must arrive, as on hardware since Volta.
 * Arrivals at different lines, or after some threads have left, are reported but do not block.
 */
#include "barrier.h"

#include "counters.h"
#include "fiber.h"
#include "finding.h"
#include "grid.h"
#include "named_barrier.h"
#include "polling.h"
#include "race.h"
#include "weak.h"

#include <string.h>

/* Rare paths are not inlined: each thread that waits at a barrier keeps the barrier's stack frame,
 * which should take few cache lines. */
#define RARE __attribute__((noinline))

void barrier_start(struct block *block)
{
    block->barrier.missing = block->thread_count;
    block->barrier.votes = 0;
    block->barrier.site = NULL;
    block->clock = (struct block_clock){0};
    if (UNLIKELY(block->named != NULL))
        named_start(block);
}

static RARE void release_block(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *warp = &block->warps[i];
        warp->ready = warp->live; /* all live threads have arrived */
        if (warp->ready)
            block->ready_warps |= warp->bit;
    }
    block->barrier.result = block->barrier.votes;
    block->barrier.result_of = block->live;
    block->barrier.votes = 0;
    block->barrier.missing = block->live;
    block->barrier.site = NULL;
    block->clock.now = block->clock.next;
    race_barrier(block);
    weak_block_meets(block);
    block->run->counts.barriers++;
    block->run->events++;
    progress();
    if (lane_order == LANES_FORWARD) /* the first thread goes on first, as in the fast form */
        now.warp = block->warps;
}

static RARE void note_sites(const struct thread *thread, const char *site)
{
    char at[40], first[40];
    const struct block *block = thread->block;
    if (strcmp(site, block->barrier.site) == 0)
        return;
    dim3_text(first, sizeof first, block->idx);
    dim3_text(at, sizeof at, thread->idx);
    run_finding(FINDING_SITES,
                "threads of block %s meet in different barriers: %s in %s, others in %s; all "
                "threads must reach the same __syncthreads",
                first, at, site, block->barrier.site);
}

void barrier_left(struct block *block)
{
    named_note_exit(block, block->barrier.site);
    release_block(block);
}

static inline __attribute__((always_inline)) void arrive_at_barrier(const char *site, uint32_t vote)
{
    struct thread *thread = now.thread;
    struct block *block = now.block;
    if (UNLIKELY(!block->barrier.site && named_has_zero(block))) {
        named_arrive(0, 0, vote ? NAMED_VOTES : NAMED_WAITS, site);
        named_complete(block, 0);
        return;
    }
    thread->site = site;
    block->barrier.votes += vote;
    if (!block->barrier.site)
        block->barrier.site = site;
    else if (UNLIKELY(site != block->barrier.site))
        note_sites(thread, site);
    if (--block->barrier.missing == 0) {
        if (UNLIKELY(block->live < block->thread_count))
            named_note_exit(block, block->barrier.site);
        release_block(block);
    }
}

#if defined(__x86_64__)

/* The stack pointer to switch to, and where to save the current one. to is NULL: the thread
 * continues. */
struct hop {
    void *to;
    void **from;
};

static struct hop hop_to(struct thread *next)
{
    void **from = &now.thread->sp;
    return (struct hop){next ? thread_enter(next) : fiber_main, from};
}

static RARE struct hop meet_at_barrier(const char *site)
{
    struct thread *thread = now.thread;
    arrive_at_barrier(site, 0);
    struct thread *next = pick();
    return next == thread ? (struct hop){NULL, NULL} : hop_to(next);
}

static RARE struct hop start_thread(struct thread *next)
{
    return hop_to(next);
}

/* The common path makes no call: another thread of the same warp is to arrive here, or to continue
 * here.
 */
__attribute__((used)) struct hop barrier_meet(const char *site)
{
    struct block *block = now.block;
    struct warp *warp = now.warp;
    uint32_t ready = warp->ready;
    if (UNLIKELY(site != block->barrier.site || block->barrier.missing == 1 || !ready ||
                 lane_order != LANES_FORWARD))
        return meet_at_barrier(site);
    struct thread *next = warp->threads + __builtin_ctz(ready);
    now.thread->site = site;
    block->barrier.missing--;
    warp->ready = ready & (ready - 1);
    return next->sp ? hop_to(next) : start_thread(next);
}

/* vgpu_syncthreads(site): the hottest switch, in assembly: it saves the callee-saved registers in
 * as few cache lines as possible, and returns by a jump. A return would be predicted from the last
 * call of another thread; the jump is predicted from earlier jumps. */
__asm__(".text\n"
        "\t.p2align 4\n"
        "\t.globl vgpu_syncthreads\n"
        "\t.type vgpu_syncthreads, @function\n"
        "vgpu_syncthreads:\n"
        "\t.cfi_startproc\n"
        "\tpushq %rbp\n"
        "\tpushq %rbx\n"
        "\tpushq %r12\n"
        "\tpushq %r13\n"
        "\tpushq %r14\n"
        "\tpushq %r15\n"
        "\tsubq $8, %rsp\n"
        "\t.cfi_adjust_cfa_offset 56\n"
        "\tcall barrier_meet\n"
        "\ttestq %rax, %rax\n"
        "\tje 1f\n"
        "\tleaq 1f(%rip), %rcx\n"
        "\tpushq %rcx\n"
        "\tmovq %rsp, (%rdx)\n"
        "\tmovq %rax, %rsp\n"
        "\tpopq %rax\n"
        "\tjmpq *%rax\n"
        "1:\n"
        "\taddq $8, %rsp\n"
        "\tpopq %r15\n"
        "\tpopq %r14\n"
        "\tpopq %r13\n"
        "\tpopq %r12\n"
        "\tpopq %rbx\n"
        "\tpopq %rbp\n"
        "\t.cfi_adjust_cfa_offset -56\n"
        "\tpopq %rcx\n"
        "\t.cfi_adjust_cfa_offset -8\n"
        "\tjmpq *%rcx\n"
        "\t.cfi_endproc\n"
        "\t.size vgpu_syncthreads, . - vgpu_syncthreads\n");

#else

OFFERED void vgpu_syncthreads(const char *site)
{
    arrive_at_barrier(site, 0);
    park(now.thread);
}

#endif

OFFERED int vgpu_syncthreads_reduce(int op, int predicate, const char *site)
{
    arrive_at_barrier(site, predicate != 0);
    park(now.thread);
    uint32_t yes = now.block->barrier.result;
    if (op == 1)
        return yes == now.block->barrier.result_of;
    return op == 2 ? yes != 0 : (int)yes;
}

/* ---- barriers with a number and a count ---- */

OFFERED void vgpu_barrier_arrive(uint32_t number, uint32_t count, const char *site)
{
    named_check(number, count, site);
    named_arrive(number, count, NAMED_ARRIVES, site);
    named_complete(now.block, number);
}

OFFERED int vgpu_barrier(int op, uint32_t number, uint32_t count, int predicate, const char *site)
{
    struct thread *thread = now.thread;
    named_check(number, count, site);
    named_arrive(number, count, predicate ? NAMED_VOTES : NAMED_WAITS, site);
    named_complete(now.block, number);
    park(thread);
    uint32_t yes = thread->named.votes;
    if (op == 1)
        return yes == thread->named.voters;
    return op == 2 ? yes != 0 : (int)yes;
}

/* ---- the grid ---- */

/* Waits by polling, as a barrier in device code would, so that the scheduler can handle it. */
OFFERED void vgpu_grid_meet(uint64_t blocks)
{
    struct run *run = now.run;
    uint32_t phase = run->grid_barrier.phase;
    access_pc = (uint64_t)__builtin_return_address(0) - 1;
    if (++run->grid_barrier.arrived < blocks) {
        while (run->grid_barrier.phase == phase)
            poll_note((uint64_t)&run->grid_barrier.phase, phase, sizeof run->grid_barrier.phase);
        return;
    }
    run->grid_barrier.arrived = 0;
    run->grid_barrier.phase++;
    race_grid_synced(run);
    weak_grid_meets(run);
    run->counts.barriers++;
    run->events++;
    progress();
}
