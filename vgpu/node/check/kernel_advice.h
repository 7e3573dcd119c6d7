/* SPDX-License-Identifier: MIT
 * kernel_advice.h: kernels that are right and slower than they need be: threads that use memory
 * which lies apart, or other words of one bank of shared memory; GPUs of which one has more to do
 * than the others. Counted for each launch in the program, told at its end with what it cost in
 * virtual time. Advice, never a finding.
 */
#ifndef VGPU_KERNEL_ADVICE_H
#define VGPU_KERNEL_ADVICE_H

#include "op.h"

/* `op` is over, by the clock. */
void advise_kernel_finished(const struct op *op);

/* The program says goodbye; it is gone. */
void advise_kernels_tell(struct process *process);
void advise_kernels_free(struct process *process);

#endif
