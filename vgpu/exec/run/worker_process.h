/* SPDX-License-Identifier: MIT
 * worker_process.h: worker processes, which run blocks of the same kernel on other processors.
 *
 * A worker is a fork of this process: it shares mapped device memory and has everything else to
 * itself, so that nothing in this folder needs a lock. Blocks are claimed in ascending order. Only
 * kernels whose results cannot depend on it get workers: no atomics, volatile accesses, fences,
 * clock or printf.
 */
#ifndef VGPU_WORKER_PROCESS_H
#define VGPU_WORKER_PROCESS_H

#include "exec.h"

/* Called between two blocks, when none is resident: starts workers for a long run. Reads the clock
 * where run.looks is a multiple of BLOCKS_A_LOOK. */
enum { BLOCKS_A_LOOK = 16 };
void workers_consider(struct run *run);

/* Claims more blocks for this process: next_block up to claimed. False: none are left. */
bool worker_claim(struct run *run);

/* Called before block `number` runs. False: an earlier block has faulted, so it must not run. */
bool worker_starts_block(uint64_t number);

/* The end of a run. In a worker: stores its part of the result, and ends the process. In the
 * process that has the run: waits for the workers, and adds their parts. */
void workers_join(struct run *run, struct vgpu_exec_reply *reply);

#endif
