/* SPDX-License-Identifier: MIT
 * kernel_advice.h: advice on kernels that are correct but slower than necessary: uncoalesced
 * accesses, bank conflicts in shared memory, uneven load of GPUs. Counted for each launch statement
 * of the program, and reported at its end with the cost in virtual time. Advice is never a finding.
 */
#ifndef VGPU_KERNEL_ADVICE_H
#define VGPU_KERNEL_ADVICE_H

#include "op.h"

/* `op` has finished in virtual time. */
void advise_kernel_finished(const struct op *op);

/* Report the advice when the program ends (VGPU_OP_BYE); free its state when it has ended. */
void advise_kernels_tell(struct process *process);
void advise_kernels_free(struct process *process);

#endif
