/* SPDX-License-Identifier: MIT
 * fiber.c: the pool of stacks, the worker that runs threads on one, the lane orders.
 *
 * Stacks lie in one window of addresses, reserved as needed: only used pages take memory, and those
 * of a very large kernel are freed after it. The window starts with a gap, so that a much too large
 * frame hits unmapped memory.
 */
#include "fiber.h"

#include "barrier.h"
#include "cluster.h"
#include "device_image.h"
#include "fault.h"
#include "named_barrier.h"
#include "number.h"
#include "polling.h"
#include "schedule.h"
#include "weak.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { STACKS_A_STEP = 256, STACK_GAP = 256 << 20 };
/* Both stacks of a thread are in use at once, and must not lie in the same places of a page. */
enum { HALF_PAGE = 2048 };
#define LOCALS_OFFSET (VGPU_DEVICE_STRIDE / 2) /* of second stacks, in the window of stacks */

void *fiber_main;
char **stack_free;
uint64_t stack_free_count;
enum lane_order lane_order;

static uint64_t stack_count, stacks_va; /* stacks_va: where the first gap is */
static uint32_t seed_state = 1;

static char *stack_at(uint64_t i)
{
    if (!stacks_va)
        stacks_va = images_have_two_stacks ? OWN_VA : WINDOW_VA(WINDOW_STACK);
    return (char *)(stacks_va + STACK_GAP + i * STACK_BYTES); /* NOLINT */
}

/* The second stack beside `stack`, its low end. */
static char *locals_at(const char *stack)
{
    uint64_t offset = (uint64_t)stack - stacks_va;
    return (char *)(WINDOW_VA(WINDOW_STACK) + LOCALS_OFFSET + offset); /* NOLINT */
}

static bool map_stacks(char *at)
{
    return mmap(at, (size_t)STACKS_A_STEP * STACK_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
                0) != MAP_FAILED;
}

char *stack_take_more(void)
{
    char **list = realloc(stack_free, (stack_count + STACKS_A_STEP) * sizeof *list);
    bool made = false;
    if (list) {
        stack_free = list;
        made = map_stacks(stack_at(stack_count)) && map_stacks(locals_at(stack_at(stack_count)));
    }
    if (!made)
        fault_raise(VGPU_FAULT_INTERNAL, 0, false, 0,
                    "no memory for the stacks of %llu waiting threads (%s): launch fewer threads "
                    "at a time, or raise the memory limit",
                    (unsigned long long)stack_count, strerror(errno));
    for (uint64_t i = STACKS_A_STEP; i-- > 0;)
        stack_free[stack_free_count++] = stack_at(stack_count + i);
    stack_count += STACKS_A_STEP;
    return stack_free[--stack_free_count];
}

void stack_trim(void)
{
    if (stack_count <= STACKS_KEPT)
        return;
    uint64_t bytes = (stack_count - STACKS_KEPT) * STACK_BYTES;
    madvise(stack_at(STACKS_KEPT), bytes, MADV_DONTNEED);
    madvise(locals_at(stack_at(STACKS_KEPT)), bytes, MADV_DONTNEED);
}

static uint64_t stack_colour(const char *stack)
{
    return ((uint64_t)stack - stacks_va) / STACK_BYTES * STACK_COLOUR_BYTES % 4096;
}

uint64_t locals_room(struct thread *thread)
{
    char *low = locals_at(thread->stack);
    if (!thread->locals)
        thread->locals = low + STACK_BYTES - HALF_PAGE - stack_colour(thread->stack);
    int64_t left = thread->locals - low - STACK_RESERVE;
    return left > 0 ? (uint64_t)left : 0;
}

void *stack_start(char *stack)
{
    void **top = (void **)(void *)(stack + STACK_BYTES - stack_colour(stack)) - 2;
#if defined(__x86_64__)
    top[0] = (void *)fiber_worker; /* popped by the switch */
    top[1] = NULL;                 /* the worker's return address: where back traces end */
#else
    top[0] = NULL; /* the frame pointer */
    top[1] = (void *)fiber_worker;
#endif
    return top;
}

/* The first block runs in the careful form, so it may take so long that others should run the rest
 * meanwhile (worker_process.h): the block pauses. */
static bool workers_are_due(const struct block *block)
{
    struct timespec t;
    return block == sample_block && block->run->due > 0 &&
           clock_gettime(CLOCK_MONOTONIC, &t) == 0 &&
           (double)t.tv_sec + (double)t.tv_nsec * 1e-9 > block->run->due;
}

/* The running thread has left its kernel. Returns the next one that can run in its block; NULL:
 * none can, or the block pauses. */
static struct thread *leave_thread(struct thread *thread)
{
    struct block *block = now.block;
    struct warp *warp = now.warp;
    warp->live &= ~thread->bit;
    if (!warp->live)
        progress();
    block->live--;
    thread->sp = NULL;
    thread->stack = NULL;
    thread->clock = (struct thread_clock){0};
    if (thread->poll.address)
        poll_forget(thread);
    if (UNLIKELY(thread->weak != NULL))
        weak_thread_ends(thread);
    if (UNLIKELY(--block->barrier.missing == 0) && block->live)
        barrier_left(block);
    if (UNLIKELY(block->named != NULL))
        named_left(block);
    if (UNLIKELY(warp->in_op))
        warp_left(warp);
    if (UNLIKELY(block->cluster != NULL))
        cluster_left(thread);
    struct thread *next = pick();
    if (next && !warp->live && UNLIKELY(workers_are_due(block))) {
        next->warp->ready |= next->bit;
        return NULL;
    }
    return next;
}

__attribute__((noinline)) void fiber_resume(void **to)
{
    fiber_jump(to);
}

/* A kernel returns to this loop, on whichever stack it began, and the processor predicts the return
 * address from the most recent calls. So a thread that is about to end is entered by the same call
 * instruction as a fresh one: its return is then predicted. */
_Noreturn void fiber_worker(void)
{
    void (*enter)(void **) = now.run->kernel->call;
    void **argument = now.run->args;
    for (;;) {
        __asm__("" : "+r"(enter)); /* one call instruction for both, whatever the optimizer finds */
        enter(argument);
        char *stack = now.thread->stack;
        struct thread *next = leave_thread(now.thread);
        if (!next) {
            stack_give(stack);
            fiber_jump(fiber_main);
        }
        if (next->sp) {
            stack_give(stack);
            enter = fiber_resume;
            argument = thread_enter(next);
            continue;
        }
        next->stack = stack;
        next->locals = NULL;
        now.thread = next;
        threadIdx = next->idx;
        if (UNLIKELY(next->block == sample_block))
            sample_thread_starts(next);
        if (UNLIKELY(next->block == work_block))
            work_switch(next);
        enter = now.run->kernel->call;
        argument = now.run->args;
    }
}

/* PTX's exit: equivalent to a return from the kernel. */
OFFERED _Noreturn void vgpu_exit(void)
{
    char *stack = now.thread->stack;
    struct thread *next = leave_thread(now.thread);
    stack_give(stack);
    fiber_jump(next ? thread_enter(next) : fiber_main);
}

/* A bit of `mask` by a generator with the same seed in every process, so that orders are
 * repeatable. */
uint32_t lane_seeded(uint32_t mask)
{
    seed_state ^= seed_state << 13;
    seed_state ^= seed_state >> 17;
    seed_state ^= seed_state << 5;
    uint32_t turn = seed_state & 31;
    uint32_t turned = turn ? mask >> turn | mask << (32 - turn) : mask;
    turned &= -turned;
    return turn ? turned << turn | turned >> (32 - turn) : turned;
}

/* VGPU_LANES=forward|reverse|seeded[:number], VGPU_SCHEDULE=number */
__attribute__((constructor)) static void choose_order(void)
{
    const char *order = getenv("VGPU_LANES");
    uint64_t seed = vgpu_schedule();
    if (seed) {
        lane_order = LANES_SEEDED;
        seed_state = (uint32_t)(seed * 2654435761u) | 1;
    }
    if (!order)
        return;
    if (strcmp(order, "reverse") == 0)
        lane_order = LANES_REVERSE;
    uint64_t lanes_seed = 1;
    if (strcmp(order, "seeded") == 0 ||
        (strncmp(order, "seeded:", 7) == 0 && vgpu_number(order + 7, 0, UINT32_MAX, &lanes_seed))) {
        lane_order = LANES_SEEDED;
        seed_state = (uint32_t)lanes_seed * 2654435761u | 1;
    }
}
