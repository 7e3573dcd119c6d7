/* SPDX-License-Identifier: MIT
 * bounds.h: which bytes of device memory are allocated, in the tables of struct vgpu_control that
 * contexts check accesses against; and what was freed lately, for explanations.
 */
#ifndef VGPU_BOUNDS_H
#define VGPU_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "device_memory.h"

/* A block at `offset` of `device` is mapped from now on: its first `live` bytes are allocated, the
 * rest up to the next whole chunk (at least one) is not. */
void bounds_map(int device, uint64_t offset, uint64_t live);
void bounds_unmap(int device, uint64_t offset, uint64_t bytes);

/* A small allocation inside a mapped block. */
void bounds_take(int device, uint64_t offset, uint64_t bytes);

/* An allocation, small or large, is about to be freed: it is remembered for a while. */
void bounds_give(const struct pointee *gone);

/* The process ends: nothing is remembered of it. */
void bounds_forget(const struct owner *owner);

/* The latest freed allocation that held `address`. */
bool bounds_freed(uint64_t address, struct pointee *out);

/* The live allocation of `owner` that ends closest below `address`, within its chunk's block. */
bool bounds_before(const struct owner *owner, uint64_t address, struct pointee *out);

#endif
