/* SPDX-License-Identifier: MIT
 * guard.h: host code that uses pinned or managed memory while a GPU may still do so. Only where
 * VGPU_CHECK has order, and the program leaves SIGSEGV to us.
 */
#ifndef VGPU_GUARD_H
#define VGPU_GUARD_H

#include "runtime.h"

/* In the handler of SIGSEGV: was it such an access? Then the instruction can be run again. */
bool vgpu__guard_fault(uint64_t address, const void *context);

/* Tells the node of such accesses, before it hears of anything later. */
void vgpu__guard_before_call(void);

/* Closes the pages of what `request` has put into a stream, opens those of what the host has waited
 * for. */
void vgpu__guard_after_call(const struct vgpu_request *request, const struct vgpu_reply *reply);

/* Around a fork; and in the child, which can make no calls. */
void vgpu__guard_lock(void);
void vgpu__guard_unlock(void);
void vgpu__guard_open_all(void);

/* The memory is given back, or the library itself uses it. */
void vgpu__guard_drop(uint64_t address, size_t bytes);

#endif
