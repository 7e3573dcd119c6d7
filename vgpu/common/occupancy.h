/* SPDX-License-Identifier: MIT
 * occupancy.h: how many blocks of a kernel a multiprocessor (SM) holds at once. The runtime returns
 * it (cudaOccupancy...), the node refuses larger cooperative grids, and vgpu-exec runs that many
 * blocks concurrently.
 */
#ifndef VGPU_OCCUPANCY_H
#define VGPU_OCCUPANCY_H

#include <stdint.h>

#include "launch_limits.h"

/* The resources of an SM. */
struct vgpu_sm {
    uint64_t threads, blocks, shared_bytes;
    int cc_major;
};

/* Bytes of shared memory that the system reserves in each block. */
static inline uint64_t vgpu_shared_reserved(int cc_major)
{
    return cc_major >= VGPU_SHARED_RESERVED_FROM ? VGPU_SHARED_RESERVED_BYTES : 0;
}

/* For blocks of `threads` (at least 1) and `shared_bytes` (static and dynamic). Threads are
 * allocated in whole warps, shared memory in units of 128 bytes; registers are not modelled. */
static inline uint64_t vgpu_blocks_per_sm(const struct vgpu_sm *sm, uint64_t threads,
                                          uint64_t shared_bytes)
{
    uint64_t blocks = sm->blocks, by_threads = sm->threads / ((threads + 31) / 32 * 32);
    uint64_t shared = (shared_bytes + vgpu_shared_reserved(sm->cc_major) + 127) / 128 * 128;
    if (by_threads < blocks)
        blocks = by_threads;
    if (shared > 0 && sm->shared_bytes / shared < blocks)
        blocks = sm->shared_bytes / shared;
    return blocks;
}

#endif
