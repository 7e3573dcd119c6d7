/* SPDX-License-Identifier: MIT
 * shared_memory.h: __shared__ memory of resident blocks.
 */
#ifndef VGPU_EXEC_SHARED_MEMORY_H
#define VGPU_EXEC_SHARED_MEMORY_H

#include "exec.h"

void shared_start(struct block *block);
void shared_end(struct block *block);

/* Finds the declaration around `address` in the running block's shared memory: its bytes, and the
 * offset in it; 0: none, or other memory. */
uint32_t shared_describe(uint64_t address, uint32_t *offset);

/* All of it is the block's. */
bool shared_holds(const struct block *block, uint64_t first, uint64_t end);

#endif
