/* SPDX-License-Identifier: MIT
 * hostcall.h: functions of the program that its streams call (cudaLaunchHostFunc).
 *
 * Such an operation is wanted even when no call waits for it: the program may wait for what the
 * function does without a call of CUDA's. So the node carries it out when it has nothing else to
 * do. A thread of the program asks for the next function to call, and says when the last one is
 * done.
 */
#ifndef VGPU_HOSTCALL_H
#define VGPU_HOSTCALL_H

#include <stdbool.h>
#include <stdint.h>

#include "op.h"

/* A submitted operation of kind OP_HOST. */
void hostcall_add(struct op *op);

/* Some have not been carried out; and: carries out what leads to them. */
bool hostcall_pending(void);
void hostcall_push(void);

/* For `process`'s thread: the next function; false: none is wanted now. Then: it has returned. */
bool hostcall_next(const struct process *process, uint64_t *function);
void hostcall_done(const struct process *process, uint64_t function);

#endif
