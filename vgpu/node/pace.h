/* SPDX-License-Identifier: MIT
 * pace.h: kernels that are right and slower than they need be: threads that use memory which lies
 * apart, or other words of one bank of shared memory; GPUs of which one has more to do than the
 * others. Counted for each launch in the program, told at its end with what it cost in virtual
 * time. Advice, never a finding.
 */
#ifndef VGPU_PACE_H
#define VGPU_PACE_H

#include "op.h"

/* `op` is over, by the clock. */
void pace_finished(const struct op *op);

/* The program says goodbye; it is gone. */
void pace_tell(struct process *process);
void pace_free(struct process *process);

#endif
