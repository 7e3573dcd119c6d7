/* SPDX-License-Identifier: MIT
 * call_advice.h: advice on calls that are correct but slower than necessary. Counted for each place
 * in the program, and reported at its end with the cost in virtual time. Advice is never a finding.
 */
#ifndef VGPU_CALL_ADVICE_H
#define VGPU_CALL_ADVICE_H

#include "process.h"
#include "protocol.h"

/* A copy has been issued or has finished. */
void advise_copied(const struct op *op);

/* An operation is issued, which shows whether an earlier wait was unnecessary. */
void advise_issued(struct op *op);

/* The call `q` has waited `waited_ps` for `op`. */
void advise_waited(struct process *process, const struct vgpu_request *q, const struct op *op,
                   uint64_t waited_ps);

/* Device memory was allocated or freed. */
void advise_allocated(struct process *process, const struct vgpu_request *q);
void advise_freed(struct process *process);

/* Report the advice when the program ends (VGPU_OP_BYE); free its state when it has ended. */
void advise_calls_tell(struct process *process);
void advise_calls_free(struct process *process);

#endif
