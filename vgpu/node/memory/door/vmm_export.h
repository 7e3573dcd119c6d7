/* SPDX-License-Identifier: MIT
 * vmm_export.h: allocations as descriptors. "The memory allocation will be freed when all
 * outstanding mappings to the memory are unmapped and when all outstanding references to the handle
 * (including it's shareable counterparts) are also released" (CUDA's reference, cuMemRelease): so a
 * descriptor holds its allocation wherever it is, in a process or on its way through a socket, and
 * the node must learn when the last copy of it is closed.
 *
 * A descriptor is therefore the reading end of a pipe of its own. Its inode names the allocation,
 * and the node's writing end reports an error once the last copy of the reading end is closed.
 */
#ifndef VGPU_VMM_EXPORT_H
#define VGPU_VMM_EXPORT_H

#include <stdbool.h>

struct vmm_allocation;

/* A descriptor that is a reference of the allocation: send it, then close it. -1: no room. */
int vmm_export(struct vmm_allocation *allocation);

/* The allocation that a descriptor came from, or NULL. */
struct vmm_allocation *vmm_exported(int fd);

/* A descriptor that can be read when one of them was closed everywhere; -1: not possible. */
int vmm_export_ends(void);

/* Lets go of what only such descriptors held. */
void vmm_export_reap(void);

/* Is any descriptor still open somewhere? The node must not go before. */
bool vmm_export_any(void);

#endif
