/* SPDX-License-Identifier: MIT
 * fiber.h: stacks, and switching between them.
 *
 * The switch is inline assembly that clobbers all registers: the compiler saves only what the
 * surrounding function needs. It is an indirect jump, not a return: all fibers that wait at a
 * barrier continue at the same place, so the jump is predicted, and so are the returns after it,
 * since the threads were called from the same line.
 *
 * Beside each stack lies a second one, for variables that pointers lead to (LLVM's SafeStack):
 * device code may store there, and where all images use it, not on the first, which has the return
 * addresses.
 *
 * A stack has no guard page of its own (the kernel allows only 32,754 of them): functions check the
 * stack pointer on entry, see __tsan_func_entry. Stacks start at different offsets within a page,
 * since 1,024 equal offsets would share a few cache sets.
 */
#ifndef VGPU_FIBER_H
#define VGPU_FIBER_H

#include "builtins.h"
#include "exec.h"
#include "sample.h"
#include "work.h"
#include "warp.h"

enum {
    STACK_BYTES = 64 << 10,
    STACK_RESERVE = 16 << 10, /* for our own functions and the C library's */
    STACK_COLOUR_BYTES = 448, /* an odd number of cache lines: reaches every set */
    STACKS_KEPT = 4096
};

extern void *fiber_main; /* saved stack pointer of the scheduler */

/* Returns the low end of a free stack. Raises VGPU_FAULT_INTERNAL if memory runs out. */
char *stack_take_more(void);
extern char **stack_free;
extern uint64_t stack_free_count;

static inline char *stack_take(void)
{
    return stack_free_count ? stack_free[--stack_free_count] : stack_take_more();
}

static inline void stack_give(char *stack)
{
    stack_free[stack_free_count++] = stack;
}

/* Frees the memory of all but STACKS_KEPT stacks. None may be in use. */
void stack_trim(void);

/* Bytes that are left on the second stack of a thread, which begins with it. */
uint64_t locals_room(struct thread *thread);

/* The stack pointer of a fresh fiber on `stack`, which starts in fiber_worker. */
void *stack_start(char *stack);

/* Runs threads of the current block one after another, on the current stack. */
_Noreturn void fiber_worker(void);

/* Switches to `to` and never returns. The place of the *call* matters: see fiber_worker. */
void fiber_resume(void **to);

#if defined(__x86_64__)

static inline __attribute__((always_inline)) void fiber_switch(void **from, void *to)
{
    /* The surrounding function has no red zone: CMakeLists.txt. Skipping one would put the pushed
     * values on a cache line of their own, for each of up to 1,024 threads. */
    __asm__ volatile("pushq %%rbp\n\t"
                     "leaq 1f(%%rip), %%rax\n\t"
                     "pushq %%rax\n\t"
                     "movq %%rsp, (%0)\n\t"
                     "movq %1, %%rsp\n\t"
                     "popq %%rax\n\t"
                     "jmpq *%%rax\n"
                     "1:\n\t"
                     "popq %%rbp"
                     : "+D"(from), "+S"(to)
                     :
                     : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                       "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                       "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
                       "memory", "cc");
}

static inline _Noreturn void fiber_jump(void *to)
{
    __asm__ volatile("movq %0, %%rsp\n\t"
                     "popq %%rax\n\t"
                     "jmpq *%%rax"
                     :
                     : "S"(to)
                     : "memory");
    __builtin_unreachable();
}

#elif defined(__aarch64__)

static inline __attribute__((always_inline)) void fiber_switch(void **from, void *to)
{
    register void **save __asm__("x0") = from;
    register void *load __asm__("x1") = to;
    __asm__ volatile("adr x9, 1f\n\t"
                     "stp x29, x9, [sp, #-16]!\n\t"
                     "mov x9, sp\n\t"
                     "str x9, [%0]\n\t"
                     "mov sp, %1\n\t"
                     "ldp x29, x9, [sp], #16\n\t"
                     "br x9\n"
                     "1:"
                     : "+r"(save), "+r"(load)
                     :
                     : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                       "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24",
                       "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
                       "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
                       "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                       "v29", "v30", "v31", "memory", "cc");
}

static inline _Noreturn void fiber_jump(void *to)
{
    __asm__ volatile("mov sp, %0\n\t"
                     "ldp x29, x9, [sp], #16\n\t"
                     "br x9"
                     :
                     : "r"(to)
                     : "x9", "memory");
    __builtin_unreachable();
}

#else
#error "vgpu-exec switches stacks on x86-64 and arm64 only: write fiber_switch for this processor"
#endif

/* ---- scheduling of threads ---- */

enum lane_order { LANES_FORWARD, LANES_REVERSE, LANES_SEEDED };
extern enum lane_order lane_order;
uint32_t lane_seeded(uint32_t mask);

/* One bit of a non-empty mask: the next in lane order. */
static inline uint32_t next_bit(uint32_t mask)
{
    if (__builtin_expect(lane_order == LANES_FORWARD, 1))
        return mask & -mask;
    if (lane_order == LANES_REVERSE)
        return 0x80000000u >> __builtin_clz(mask);
    return lane_seeded(mask);
}

/* Takes the next ready thread of the running block, of the current warp if possible. NULL: all of
 * them wait. */
static inline struct thread *pick(void)
{
    struct block *block = now.block;
    for (;;) {
        struct warp *warp = now.warp;
        if (warp->ready) {
            uint32_t bit = next_bit(warp->ready);
            warp->ready ^= bit;
            return warp->threads + __builtin_ctz(bit);
        }
        if (warp->converging) {
            warp_converge(warp);
            continue;
        }
        block->ready_warps &= ~warp->bit;
        if (!block->ready_warps)
            return NULL;
        now.warp = block->warps + __builtin_ctz(next_bit(block->ready_warps));
    }
}

/* Makes `thread` the running one; returns the stack pointer to switch to. */
static inline void *thread_enter(struct thread *thread)
{
    void *to = thread->sp;
    if (!to) {
        thread->stack = stack_take();
        thread->locals = NULL;
        to = stack_start(thread->stack);
        if (UNLIKELY(thread->block == sample_block))
            sample_thread_starts(thread);
    }
    if (UNLIKELY(thread->block == work_block))
        work_switch(thread);
    now.thread = thread;
    threadIdx = thread->idx;
    now.stack_limit = thread->stack + STACK_RESERVE;
    return to;
}

/* Suspends the running thread, which its caller has added to a set of waiting ones. Returns when
 * the thread is picked again. */
static inline __attribute__((always_inline)) void park(struct thread *thread)
{
    struct thread *next = pick();
    if (next == thread)
        return;
    fiber_switch(&thread->sp, next ? thread_enter(next) : fiber_main);
}

#endif
