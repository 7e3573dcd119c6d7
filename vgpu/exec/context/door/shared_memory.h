/* SPDX-License-Identifier: MIT
 * shared_memory.h: __shared__ memory of resident blocks.
 */
#ifndef VGPU_EXEC_SHARED_MEMORY_H
#define VGPU_EXEC_SHARED_MEMORY_H

#include "exec.h"

void shared_start(struct block *block, bool is_fast);
void shared_end(struct block *block);

/* Finds the declaration around `address` in the running block's shared memory: its bytes, and the
 * offset in it; 0: none, or other memory. */
uint32_t shared_describe(uint64_t address, uint32_t *offset);

/* The address at which `other` has what `own`, a block of the same cluster, has at `address`: the
 * order of a block's objects is that of their first use. NULL: that is not its shared memory. */
void *shared_counterpart(const struct block *own, uint64_t address, struct block *other);

bool shared_is_of(const struct block *block, uint64_t address);

/* All of it is the block's. */
bool shared_holds(const struct block *block, uint64_t first, uint64_t end);

#endif
