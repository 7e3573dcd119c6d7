/* SPDX-License-Identifier: MIT
 * builtins.c: the small builtins: builtin variables, fences, the clock, traps.
 */
#include "builtins.h"

#include "counters.h"
#include "fault.h"
#include "release_acquire.h"
#include "weak.h"

#include <stddef.h>

#define CALLER ((uint64_t)__builtin_return_address(0) - 1)

OFFERED struct vgpu_dim3 vgpu_thread_idx(void)
{
    return now.thread->idx;
}

OFFERED struct vgpu_dim3 vgpu_block_idx(void)
{
    return now.block->idx;
}

OFFERED struct vgpu_dim3 vgpu_block_dim(void)
{
    return now.run->shape;
}

OFFERED struct vgpu_dim3 vgpu_grid_dim(void)
{
    return now.run->grid;
}

OFFERED uint32_t vgpu_lane_id(void)
{
    return now.thread->number % WARP_LANES;
}

/* ---- builtin variables ---- */

#define BUILTIN_VARIABLE OFFERED __attribute__((section("builtin_variables")))
BUILTIN_VARIABLE struct vgpu_dim3 threadIdx, blockIdx, blockDim, gridDim;
BUILTIN_VARIABLE int warpSize = WARP_LANES, vgpu_cooperative;
extern char __start_builtin_variables[], __stop_builtin_variables[]; /* defined by the linker */

bool is_builtin_variable(uint64_t address)
{
    return address >= (uint64_t)__start_builtin_variables &&
           address < (uint64_t)__stop_builtin_variables;
}

/* Without VGPU_SCHEDULE=weak memory is sequentially consistent for all contexts; only the host runs
 * concurrently. For race detection the fence still counts (release_acquire.h). */
OFFERED void vgpu_fence(int kind)
{
    int scope = kind & VGPU_SCOPE_MASK;
    weak_fence(scope, !(kind & VGPU_ACQ_REL));
    visibility_fence(scope);
    if (scope == 2) {
        now.run->fenced = true;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
}

_Static_assert(VGPU_SHARED_VA == WINDOW_VA(WINDOW_SHARED), "image.h says where shared memory is");

static bool is_stack(uint64_t window)
{
    return window == WINDOW_STACK || window == window_of(OWN_VA);
}

OFFERED int vgpu_is_space(enum vgpu_space space, const void *address)
{
    uint64_t window = window_of((uint64_t)address);
    if (space == VGPU_SPACE_SHARED)
        return window == WINDOW_SHARED;
    if (space == VGPU_SPACE_LOCAL)
        return is_stack(window);
    return window != WINDOW_SHARED && !is_stack(window) && address != NULL;
}

OFFERED void vgpu_trap(void)
{
    fault_raise(VGPU_FAULT_TRAP, 0, false, CALLER, "__trap() was called");
}

/* ---- the clock ---- */

enum { CLOCK_STEP = 32, CLOCK_LAP_STEP = 1000, CLOCK_CALLS_DOUBLE = 64, CLOCK_SHIFT_MAX = 30 };

static uint64_t clock_step(struct thread *thread)
{
    static const struct thread *last;
    static uint64_t last_accesses;
    uint64_t accesses = access_total(); /* has it accessed memory since? */
    if (thread != last || accesses != last_accesses)
        thread->clock.calls = 0;
    last = thread;
    last_accesses = accesses;
    uint32_t shift = thread->clock.calls++ / CLOCK_CALLS_DOUBLE;
    return (uint64_t)CLOCK_STEP << (shift < CLOCK_SHIFT_MAX ? shift : CLOCK_SHIFT_MAX);
}

static int64_t clock_advance(struct thread *thread, uint64_t cycles)
{
    uint64_t *clock = &thread->clock.cycles;
    struct block_clock *met = &thread->block->clock;
    if (*clock < met->now)
        *clock = met->now;
    *clock += cycles;
    if (met->next < *clock)
        met->next = *clock;
    if (*clock > now.run->counts.cycles)
        now.run->counts.cycles = *clock;
    return (int64_t)*clock;
}

/* Time advances with each read of the clock: for a thread that only reads the clock it advances
 * ever faster, so that a delay loop ends after some thousand iterations, within two per cent of its
 * aim; for one that also polls, it advances when no other thread can run. */
OFFERED int64_t vgpu_clock64(void)
{
    struct thread *thread = now.thread;
    uint64_t step = clock_step(thread);
    if (access_watchers.lap) {
        uint32_t shift = now.run->idle_resumes;
        step = (uint64_t)CLOCK_LAP_STEP << (shift < CLOCK_SHIFT_MAX ? shift : CLOCK_SHIFT_MAX);
        thread->poll.timed = thread->clock.cycles >> 60 == 0;
    }
    return clock_advance(thread, step);
}

/* PTX's %globaltimer: nanoseconds since the kernel's start, at about the clock rate of an H200. */
OFFERED uint64_t vgpu_globaltimer(void);
OFFERED uint64_t vgpu_globaltimer(void)
{
    return (uint64_t)vgpu_clock64() * 100 / 198;
}
