/* SPDX-License-Identifier: MIT
 * vmm.h: virtual memory management: device memory without an address, ranges of addresses without
 * memory, and mappings that put the one into the other with access for each device.
 *
 * Ranges come out of VGPU_VMM_VA, one arena for all processes of the node: an address alone says
 * which mapping it is in, and the same allocation lies elsewhere in every process, on purpose.
 * An allocation lives as long as a handle of it, a mapping or an exported descriptor
 * (vmm_export.h) does, in whichever process.
 */
#ifndef VGPU_VMM_H
#define VGPU_VMM_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

struct owner;

struct vmm_allocation {
    int device, refs;
    uint64_t offset, bytes; /* in the device's memory, whole chunks */
    uint32_t handle_types;  /* as asked for at its making */
    bool borrowed;          /* the chunks are still a cudaMalloc block's (ipc.c) */
};

/* A process's handle of an allocation; one for each pair, however often it came. */
struct vmm_handle {
    struct owner *owner;
    struct vmm_allocation *allocation;
    uint64_t id;
    int held, mapped; /* by the program; by mappings */
    bool window;
    bool imported; /* from another process, or back from it */
    struct vmm_handle *next;
};

struct vmm_range {
    struct owner *owner;
    uint64_t va, bytes;
    bool window; /* ipc.c's, not the program's to map and free */
};

struct vmm_mapping {
    struct vmm_handle *handle;
    uint64_t va, bytes;
    uint8_t mode[VGPU_MAX_DEVICES]; /* CUmemAccess_flags */
    uint64_t base, length;          /* what its pointers belong to; a window shows a part */
    int shown_on;                   /* windows: the GPU that pointers say they are on; else -1 */
    bool dying;                     /* windows: cudaFreeAsync was issued, as of a block */
    uint64_t serial;                /* no other mapping has or had it; not 0 */
    struct vmm_mapping *next;       /* by address */
};

/* Handles. NULL: no room, not this process's, or not a descriptor that vmm_export gave. */
struct vmm_handle *vmm_create(struct owner *owner, int device, uint64_t bytes, uint32_t types);
struct vmm_handle *vmm_handle(const struct owner *owner, uint64_t id); /* held by the program */
struct vmm_handle *vmm_import(struct owner *owner, int fd);
void vmm_release(struct vmm_handle *handle);

/* Ranges. */
uint64_t vmm_reserve(struct owner *owner, uint64_t bytes); /* 0: no room */
struct vmm_range *vmm_range(const struct owner *owner, uint64_t va, uint64_t bytes); /* around */
void vmm_free(struct vmm_range *range);

/* Mappings. The first one that ends behind `va`, or NULL. */
struct vmm_mapping *vmm_first(uint64_t va);
bool vmm_map(struct vmm_handle *handle, uint64_t va);
void vmm_unmap(struct vmm_mapping *mapping);

/* The mapping at `address` that some device may use, or NULL. */
struct vmm_mapping *vmm_at(uint64_t address);

/* How many bytes from `address`, which is in `mapping`, lie in mappings without a gap, inside one
 * range of their process. Copies go over the seams of mappings, as recorded on two H200. */
uint64_t vmm_run(const struct vmm_mapping *mapping, uint64_t address);

/* How many bytes from `address` on lie in one mapping, so that they are one piece of memory;
 * UINT64_MAX for addresses that are not VMM's. */
uint64_t vmm_piece(uint64_t address);

/* Sets `device`'s access (-1: every device's). */
void vmm_allow(struct vmm_mapping *mapping, int device, uint8_t mode);

/* Windows (ipc.c): chunks of a cudaMalloc block, [skip, +bytes) of which another process sees. */
struct vmm_allocation *vmm_borrow(int device, uint64_t offset, uint64_t bytes);
void vmm_drop(struct vmm_allocation *allocation);
bool vmm_move(struct vmm_allocation *allocation); /* to chunks of its own, with the contents */
bool vmm_hand_over(struct vmm_allocation *allocation, uint64_t address); /* the block becomes its */
struct vmm_mapping *vmm_open_window(struct owner *owner, struct vmm_allocation *allocation,
                                    uint64_t skip, uint64_t bytes);
void vmm_close_window(struct vmm_mapping *mapping);

/* What a process leaves is given back; how many allocations it still held. */
int vmm_count(const struct owner *owner);
int vmm_count_mappings(const struct owner *owner); /* without windows, both */
int vmm_count_ranges(const struct owner *owner);
void vmm_end(struct owner *owner);

static inline bool vmm_address(uint64_t address)
{
    return address >= VGPU_VMM_VA && address < VGPU_ARENA_END;
}

#endif
