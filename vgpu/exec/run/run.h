/* SPDX-License-Identifier: MIT
 * run.h: one launch, from message to reply.
 */
#ifndef VGPU_EXEC_RUN_H
#define VGPU_EXEC_RUN_H

#include "exec.h"

void run_start(const struct vgpu_exec_request *request, struct vgpu_exec_reply *reply);
void run_resume(uint64_t id, struct vgpu_exec_reply *reply);
void run_abort(uint64_t id, struct vgpu_exec_reply *reply);

/* Runs the blocks that this process can claim, and adds up what they count. */
void run_blocks(struct run *run, struct vgpu_exec_reply *reply);

/* Blocks of the run that are over, for who waits for it. */
void run_count_done(uint64_t blocks);

/* The arguments as they came, back to back. run_adopt: in a worker process, whose `run` is a copy
 * of the run in another process; false: no memory. */
void run_pack_args(const struct run *run, uint8_t *to);
bool run_adopt(struct run *run, const uint8_t *args);

/* The number of the block that is started in position `turn`; VGPU_SCHEDULE permutes them. */
uint64_t run_block_at(const struct run *run, uint64_t turn);

#endif
