/* SPDX-License-Identifier: MIT
 * bounds_table.h: which bytes are allocated, in tables that the node maintains (struct
 * vgpu_control). The first one lies at a fixed address, which saves every access a load.
 */
#ifndef VGPU_EXEC_BOUNDS_TABLE_H
#define VGPU_EXEC_BOUNDS_TABLE_H

#include "exec.h"

#define BOUNDS_PARTIAL_VA 0x20000000ull
extern const uint16_t *bounds_tail;

/* Maps the first table and finds the second. False on failure. */
bool bounds_attach(int control_fd);

/* Whether the chunk around `address`, in device memory, is only partly allocated. */
static inline bool bounds_partial(uint64_t address)
{
    const uint8_t *table = (const uint8_t *)BOUNDS_PARTIAL_VA; /* NOLINT */
    return table[(address - VGPU_ARENA_VA) / VGPU_CHUNK_BYTES];
}

/* The number of allocated bytes of the granule around `address`, from its start. */
static inline uint64_t bounds_granule(uint64_t address)
{
    return bounds_tail[(address - VGPU_ARENA_VA) / VGPU_GRANULE_BYTES];
}

#endif
