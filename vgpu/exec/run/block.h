/* SPDX-License-Identifier: MIT
 * block.h: resident blocks.
 */
#ifndef VGPU_EXEC_BLOCK_H
#define VGPU_EXEC_BLOCK_H

#include "exec.h"

struct block *block_start(struct run *run); /* makes the run's next block resident */
void block_retire(struct block *block);

/* A block that represents those in the fast form (lane_run.h) where the running block is needed. */
struct block *block_stand_in(void);

void block_abandon(struct block *block); /* whatever the state of its threads */

/* Describes what its threads wait for. */
void block_describe(const struct block *block, char *text, uint64_t room);

#endif
