/* SPDX-License-Identifier: MIT
 * barrier.h: the barrier of a block, when the block begins and when threads leave it.
 */
#ifndef VGPU_EXEC_BARRIER_H
#define VGPU_EXEC_BARRIER_H

#include "exec.h"

/* The block begins: none of its threads has arrived, and its clock stands at 0. */
void barrier_start(struct block *block);

/* A thread has left the kernel, and all others of its block wait. */
void barrier_left(struct block *block);

#endif
