/* SPDX-License-Identifier: MIT
 * kernels.h: the kernels of the test image, by name; an image's table and the tests share the list.
 *
 * All but `mixed` take four 64-bit parameters, so that one stub serves all. They are C, written
 * against image.h as vgpu-cc's output is.
 */
#ifndef TEST_EXEC_KERNELS_H
#define TEST_EXEC_KERNELS_H

#include "image.h"

#define KERNELS(K)                                                                                 \
    K(fill)                                                                                        \
    K(read_write)                                                                                  \
    K(load)                                                                                        \
    K(store)                                                                                       \
    K(wide)                                                                                        \
    K(recurse)                                                                                     \
    K(big_frame)                                                                                   \
    K(trap)                                                                                        \
    K(failing_assert)                                                                              \
    K(divide)                                                                                      \
    K(where_am_i)                                                                                  \
    K(copies)                                                                                      \
    K(variables)                                                                                   \
    K(endless)                                                                                     \
    K(print)                                                                                       \
    K(flood)                                                                                       \
    K(shared_poison)                                                                               \
    K(shared_dynamic)                                                                              \
    K(shared_huge)                                                                                 \
    K(shared_beyond)                                                                               \
    K(reduce)                                                                                      \
    K(rotate)                                                                                      \
    K(divergent)                                                                                   \
    K(early_exit)                                                                                  \
    K(counted)                                                                                     \
    K(deadlock)                                                                                    \
    K(shuffles)                                                                                    \
    K(votes)                                                                                       \
    K(outside_mask)                                                                                \
    K(lockstep)                                                                                    \
    K(half_warps)                                                                                  \
    K(active)                                                                                      \
    K(block_flag)                                                                                  \
    K(wait_flag)                                                                                   \
    K(wait_either)                                                                                 \
    K(wait_shared)                                                                                 \
    K(grid_barrier)                                                                                \
    K(lock)                                                                                        \
    K(volatile_bound)                                                                              \
    K(atomics)                                                                                     \
    K(builtin_atomics)                                                                             \
    K(delay)                                                                                       \
    K(timeout)                                                                                     \
    K(stream)                                                                                      \
    K(barriers)                                                                                    \
    K(empty)

#define NUMBER_OF(name) K_##name,
enum kernel_number { KERNELS(NUMBER_OF) K_mixed, KERNEL_COUNT };

#define KERNEL(name)                                                                               \
    static void name(uint64_t a, uint64_t b, uint64_t c, uint64_t d);                              \
    __attribute__((no_sanitize("thread"))) void call_##name(void **v)                              \
    {                                                                                              \
        name(*(uint64_t *)v[0], *(uint64_t *)v[1], *(uint64_t *)v[2], *(uint64_t *)v[3]);          \
    }                                                                                              \
    static void name(uint64_t a, uint64_t b, uint64_t c, uint64_t d)

#define UNUSED(x) (void)(x)
#define LINE_TEXT_(l) #l
#define LINE_TEXT(l) LINE_TEXT_(l)
#define SITE __FILE__ ":" LINE_TEXT(__LINE__)
#define SYNC() vgpu_syncthreads(SITE)

static inline uint32_t tid(void)
{
    return vgpu_thread_idx().x;
}

static inline uint32_t global_id(void)
{
    return vgpu_block_idx().x * vgpu_block_dim().x + vgpu_thread_idx().x;
}

/* A flat number of the thread, whatever the grid's and block's dimensions. */
static inline uint32_t flat_tid(void)
{
    struct vgpu_dim3 t = vgpu_thread_idx(), n = vgpu_block_dim();
    return (t.z * n.y + t.y) * n.x + t.x;
}

#endif
