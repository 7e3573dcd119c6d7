/* SPDX-License-Identifier: MIT
 * bounds.h: the bounds of allocations in device memory, kept in the tables of struct vgpu_control
 * against which contexts check accesses; and recently freed allocations, for messages.
 */
#ifndef VGPU_BOUNDS_H
#define VGPU_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "device_memory.h"

/* A block at `offset` of `device` is mapped: its first `live` bytes are allocated, the rest up to
 * the end of the last chunk (of at least one) is not. */
void bounds_map(int device, uint64_t offset, uint64_t live);
void bounds_unmap(int device, uint64_t offset, uint64_t bytes);

/* A small allocation is made in a mapped block. */
void bounds_take(int device, uint64_t offset, uint64_t bytes);

/* An allocation is about to be freed; it is remembered for a while. */
void bounds_give(const struct pointee *gone);

/* The process ends: forgets its freed allocations. */
void bounds_forget(const struct owner *owner);

/* Finds the allocation containing `address` that was freed last. */
bool bounds_freed(uint64_t address, struct pointee *out);

/* Finds the live allocation of `owner` that ends closest below `address`, in the block of its
 * chunk. */
bool bounds_before(const struct owner *owner, uint64_t address, struct pointee *out);

#endif
