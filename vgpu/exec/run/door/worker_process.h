/* SPDX-License-Identifier: MIT
 * worker_process.h: other processors that run blocks of the same kernel.
 *
 * A helper is a fork of this process: it has the same memory mapped and everything else to itself,
 * so that nothing in this folder needs a lock. Blocks are claimed in ascending order. Only kernels
 * of images that cannot tell get helpers: no atomics, volatile accesses, fences, clock or printf.
 */
#ifndef VGPU_WORKER_PROCESS_H
#define VGPU_WORKER_PROCESS_H

#include "exec.h"

/* Called between two blocks, when none is resident: starts helpers for a run that takes long. */
void helper_consider(struct run *run);

/* Takes more blocks for this process: next_block up to claimed. False: there are none. */
bool helper_claim(struct run *run);

/* This process starts block `number`. False: a block before it has faulted, it must not run. */
bool helper_starts(uint64_t number);

/* The end of a run. In a helper: leaves its part of the result, and ends the process. In the
 * process that has the run: waits for the helpers, and adds what they have. */
void helper_join(struct run *run, struct vgpu_exec_reply *reply);

/* Around the commit of a chunk: one process at a time. */
void helper_lock(void);
void helper_unlock(void);

#endif
