/* SPDX-License-Identifier: MIT
 * run.h: one launch, from message to reply.
 */
#ifndef VGPU_EXEC_RUN_H
#define VGPU_EXEC_RUN_H

#include "exec.h"

void run_start(const struct vgpu_exec_request *request, struct vgpu_exec_reply *reply);
void run_resume(uint64_t id, struct vgpu_exec_reply *reply);
void run_abort(uint64_t id, struct vgpu_exec_reply *reply);

/* The number of the block that is started in position `turn`; VGPU_SCHEDULE permutes them. */
uint64_t run_block_at(const struct run *run, uint64_t turn);

#endif
