/* SPDX-License-Identifier: MIT
 * vmm.h: virtual memory management: allocations of device memory without an address, reserved
 * address ranges without memory, and mappings of allocations into ranges, with access rights for
 * each device.
 *
 * Ranges are allocated from VGPU_VMM_VA, one arena for all processes of the node: an address alone
 * identifies its mapping, and an allocation deliberately has different addresses in different
 * processes. An allocation exists as long as a handle, a mapping or an exported descriptor
 * (vmm_export.h) refers to it, in any process.
 */
#ifndef VGPU_VMM_H
#define VGPU_VMM_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc_key.h"
#include "protocol.h"

struct owner;

struct vmm_allocation {
    int device, refs;
    uint64_t offset, bytes; /* in the device's memory, whole chunks */
    uint32_t handle_types;  /* requested when it was made */
    bool borrowed;          /* the chunks belong to a cudaMalloc block (ipc.c) */
    bool has_fabric_key;    /* its fabric handle was exported */
    struct ipc_key fabric_key;
};

/* A process's handle of an allocation. A process has one handle for each allocation, however often
 * it has obtained it. */
struct vmm_handle {
    struct owner *owner;
    struct vmm_allocation *allocation;
    uint64_t id;
    int held, mapped; /* references of the program; of mappings */
    bool window;
    bool imported; /* obtained from a descriptor */
    struct vmm_handle *next;
};

struct vmm_range {
    struct owner *owner;
    uint64_t va, bytes;
    bool window; /* made by ipc.c; the program cannot map or free it */
};

struct vmm_mapping {
    struct vmm_handle *handle;
    uint64_t va, bytes;
    uint8_t mode[VGPU_MAX_DEVICES]; /* CUmemAccess_flags */
    /* Bounds that pointer queries return; a window shows only part of its chunks. */
    uint64_t base, length;
    /* Windows: the device that pointer queries return; otherwise -1. */
    int shown_on;
    bool dying; /* windows: cudaFreeAsync was issued */
    /* Unique number of the mapping, not 0. */
    uint64_t serial;
    struct vmm_mapping *next; /* sorted by address */
};

/* Handles. NULL: no room, not a handle of this process, or not a descriptor of vmm_export. */
struct vmm_handle *vmm_create(struct owner *owner, int device, uint64_t bytes, uint32_t types);
struct vmm_handle *vmm_handle(const struct owner *owner, uint64_t id); /* held by the program */
struct vmm_handle *vmm_import(struct owner *owner, int fd);
/* Fabric handles: IPC_HANDLE_BYTES that name the allocation as long as it exists, and do not keep
 * it. vmm_export_fabric: false if there are no random numbers. */
bool vmm_export_fabric(struct vmm_allocation *allocation, uint8_t *handle);
struct vmm_handle *vmm_import_fabric(struct owner *owner, const uint8_t *handle);
void vmm_release(struct vmm_handle *handle);

/* Ranges. */
/* At a multiple of `alignment`, a power of two of at least VGPU_CHUNK_BYTES; 0: no room. */
uint64_t vmm_reserve(struct owner *owner, uint64_t bytes, uint64_t alignment);
/* The range that contains [va, +bytes), or NULL. */
struct vmm_range *vmm_range(const struct owner *owner, uint64_t va, uint64_t bytes);
void vmm_free(struct vmm_range *range);

/* Mappings. vmm_first returns the first one that ends above `va`, or NULL. */
struct vmm_mapping *vmm_first(uint64_t va);
bool vmm_map(struct vmm_handle *handle, uint64_t va);
void vmm_unmap(struct vmm_mapping *mapping);

/* The mapping at `address` that some device may access, or NULL. */
struct vmm_mapping *vmm_at(uint64_t address);

/* The number of bytes from `address`, which is in `mapping`, that are mapped without a gap, inside
 * one range of the process. Copies may cross from one mapping to the next (recorded on two H200s).
 */
uint64_t vmm_run(const struct vmm_mapping *mapping, uint64_t address);

/* The number of bytes from `address` on that lie in one mapping and so are contiguous memory;
 * UINT64_MAX for addresses outside VMM ranges. */
uint64_t vmm_piece(uint64_t address);

/* Sets the access of `device` (-1: of all devices). */
void vmm_allow(struct vmm_mapping *mapping, int device, uint8_t mode);

/* Windows (ipc.c) onto chunks of a cudaMalloc block; another process sees [skip, +bytes) of them.
 */
struct vmm_allocation *vmm_borrow(int device, uint64_t offset, uint64_t bytes);
void vmm_drop(struct vmm_allocation *allocation);
/* Moves the contents to chunks of its own. */
bool vmm_move(struct vmm_allocation *allocation);
/* Transfers the chunks of the block to the allocation. */
bool vmm_hand_over(struct vmm_allocation *allocation, uint64_t address);
struct vmm_mapping *vmm_open_window(struct owner *owner, struct vmm_allocation *allocation,
                                    uint64_t skip, uint64_t bytes);
void vmm_close_window(struct vmm_mapping *mapping);

/* Frees what a process leaves behind. The counts do not include windows. */
int vmm_count(const struct owner *owner);
int vmm_count_mappings(const struct owner *owner);
int vmm_count_ranges(const struct owner *owner);
void vmm_end(struct owner *owner);

static inline bool vmm_address(uint64_t address)
{
    return address >= VGPU_VMM_VA && address < VGPU_ARENA_END;
}

#endif
