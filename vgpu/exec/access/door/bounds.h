/* SPDX-License-Identifier: MIT
 * bounds.h: detects accesses past the end of an allocation, or after a cudaFree.
 */
#ifndef VGPU_EXEC_BOUNDS_H
#define VGPU_EXEC_BOUNDS_H

#include "exec.h"

/* Records an access to [address, +bytes) of device memory unless all of it is allocated. */
void bounds_check(uint64_t address, uint64_t bytes, bool write, uint64_t pc);
/* Whether all of [address, end), in any window, is allocated, as far as accesses are checked. */
bool bounds_hold(uint64_t address, uint64_t end);
/* Records an access to unallocated memory: a finding, or a fault where the run is strict. */
void bounds_stray(uint64_t address, uint64_t bytes, bool write, uint64_t pc);
/* In a new worker process: clears its records. */
void bounds_clear(struct run *run);
/* Adds a worker process's records. */
void bounds_merge(struct run *run, const struct vgpu_stray *stray, uint32_t count);

#endif
