/* SPDX-License-Identifier: MIT
 * block_schedule.h: schedules the blocks of a kernel.
 */
#ifndef VGPU_EXEC_BLOCK_SCHEDULE_H
#define VGPU_EXEC_BLOCK_SCHEDULE_H

#include "exec.h"

/* Runs until the kernel is done (VGPU_RAN) or no thread can run (VGPU_STALLED; `why`). */
enum vgpu_exec_status schedule_blocks(struct run *run, char *why, uint64_t room);

#endif
