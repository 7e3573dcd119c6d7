/* SPDX-License-Identifier: MIT
 * barrier.h: the barrier of a block, at the start of the block and when threads leave it.
 */
#ifndef VGPU_EXEC_BARRIER_H
#define VGPU_EXEC_BARRIER_H

#include "exec.h"

/* Resets the barrier: no thread has arrived, and the block's clock is 0. */
void barrier_start(struct block *block);

/* A thread has left the kernel, and all others of its block wait. */
void barrier_left(struct block *block);

#endif
