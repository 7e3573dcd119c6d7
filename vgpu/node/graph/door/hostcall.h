/* SPDX-License-Identifier: MIT
 * hostcall.h: functions of the program that streams call (cudaLaunchHostFunc).
 *
 * Such an operation must be carried out even if no call waits for it, since the program may wait
 * for its result without a CUDA call. So the node carries it out when it has nothing else to do. A
 * thread of the program requests the next function to call, and reports when it has returned.
 */
#ifndef VGPU_HOSTCALL_H
#define VGPU_HOSTCALL_H

#include <stdbool.h>
#include <stdint.h>

#include "op.h"

/* Adds a submitted operation of kind OP_HOST. */
void hostcall_add(struct op *op);

/* hostcall_pending: true if some have not been carried out. hostcall_push: carries them out, with
 * everything that they depend on. */
bool hostcall_pending(void);
void hostcall_push(void);

/* hostcall_next: stores the next function that `process` must call; false: none now. hostcall_done:
 * it has returned. */
bool hostcall_next(const struct process *process, uint64_t *function);
void hostcall_done(const struct process *process, uint64_t function);

#endif
