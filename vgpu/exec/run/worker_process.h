/* SPDX-License-Identifier: MIT
 * worker_process.h: worker processes, which run blocks of the same kernel on other processors.
 *
 * A worker is a fork of this process: it shares mapped device memory and has everything else to
 * itself, so that nothing in this folder needs a lock. It stays for the kernels that follow, until
 * another image is loaded, or it has had nothing to do for five seconds. Blocks are claimed in
 * ascending order. Only kernels whose results cannot depend on it get workers: no volatile
 * accesses, fences, clock, printf, or atomics other than sums (vgpu_kernel.summed).
 */
#ifndef VGPU_WORKER_PROCESS_H
#define VGPU_WORKER_PROCESS_H

#include "exec.h"

/* Called between two blocks, when none is resident: lets workers take part in a long run. Reads the
 * clock where run.looks is a multiple of BLOCKS_A_LOOK, and at the first blocks. */
enum { BLOCKS_A_LOOK = 16 };
void workers_consider(struct run *run);

/* Called when the first block has paused or ended. */
void workers_start_if_due(struct run *run);

/* Claims more blocks for this process: next_block up to claimed. False: none are left. */
bool worker_claim(struct run *run);

/* Called before block `number` runs. False: an earlier block has faulted, so it must not run. */
bool worker_starts_block(uint64_t number);

/* The end of a run: waits for the workers that take part, and adds their parts of the result. */
void workers_join(struct run *run, struct vgpu_exec_reply *reply);

/* This process has mapped or unmapped memory: its workers do the same before their next block. */
void workers_log(const struct vgpu_exec_request *request);

/* Ends the workers: what follows is a change that a log cannot describe. */
void workers_retire(void);

#endif
