/* SPDX-License-Identifier: MIT
 * vmm_export.h: allocations as file descriptors. "The memory allocation will be freed when all
 * outstanding mappings to the memory are unmapped and when all outstanding references to the handle
 * (including it's shareable counterparts) are also released" (CUDA's reference, cuMemRelease). So a
 * descriptor is a reference to its allocation wherever it is, in a process or in transit through a
 * socket, and the node must be notified when its last copy is closed.
 *
 * A descriptor is therefore the reading end of a pipe. Its inode identifies the allocation, and the
 * node's writing end reports an error once the last copy of the reading end is closed.
 */
#ifndef VGPU_VMM_EXPORT_H
#define VGPU_VMM_EXPORT_H

#include <stdbool.h>

struct vmm_allocation;

/* Makes a descriptor that refers to the allocation: send it, then close it. -1: no room. */
int vmm_export(struct vmm_allocation *allocation);

/* The allocation of a descriptor, or NULL. */
struct vmm_allocation *vmm_exported(int fd);

/* A descriptor that becomes readable when an exported descriptor has been closed everywhere; -1:
 * failed. */
int vmm_export_ends(void);

/* Drops the references of such descriptors. */
void vmm_export_reap(void);

/* True if any exported descriptor is still open; the node must not end before. */
bool vmm_export_any(void);

#endif
