/* SPDX-License-Identifier: MIT
 * bounds.h: accesses past the end of an allocation, or after a cudaFree.
 */
#ifndef VGPU_EXEC_BOUNDS_H
#define VGPU_EXEC_BOUNDS_H

#include "exec.h"

/* Notes [address, +bytes), of device memory, if not all of it is allocated. */
void bounds_check(uint64_t address, uint64_t bytes, bool write, uint64_t pc);
/* All of [address, end), of any window, is allocated, as far as accesses are asked about it. */
bool bounds_hold(uint64_t address, uint64_t end);
/* Notes an access that is not: a finding, or a fault where the run is strict. */
void bounds_stray(uint64_t address, uint64_t bytes, bool write, uint64_t pc);
/* A worker begins, and has noted nothing. */
void bounds_clear(struct run *run);
/* Adds what a worker noted. */
void bounds_merge(struct run *run, const struct vgpu_stray *stray, uint32_t count);

#endif
