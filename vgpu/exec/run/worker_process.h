/* SPDX-License-Identifier: MIT
 * worker_process.h: other processors that run blocks of the same kernel.
 *
 * A worker is a fork of this process: it has the same memory mapped and everything else to itself,
 * so that nothing in this folder needs a lock. Blocks are claimed in ascending order. Only kernels
 * of images that cannot tell get workers: no atomics, volatile accesses, fences, clock or printf.
 */
#ifndef VGPU_WORKER_PROCESS_H
#define VGPU_WORKER_PROCESS_H

#include "exec.h"

/* Called between two blocks, when none is resident: starts workers for a run that takes long. It
 * looks at the clock where run.looks is a multiple of BLOCKS_A_LOOK. */
enum { BLOCKS_A_LOOK = 16 };
void workers_consider(struct run *run);

/* Takes more blocks for this process: next_block up to claimed. False: there are none. */
bool worker_claim(struct run *run);

/* This process starts block `number`. False: a block before it has faulted, it must not run. */
bool worker_starts_block(uint64_t number);

/* The end of a run. In a worker: leaves its part of the result, and ends the process. In the
 * process that has the run: waits for the workers, and adds what they have. */
void workers_join(struct run *run, struct vgpu_exec_reply *reply);

#endif
