/* SPDX-License-Identifier: MIT
 * call_advice.h: what is right and slower than it need be: counted for each place in the program,
 * told at its end, with what it cost in virtual time. Advice, never a finding.
 */
#ifndef VGPU_CALL_ADVICE_H
#define VGPU_CALL_ADVICE_H

#include "process.h"
#include "protocol.h"

/* A copy is issued / is over. */
void advise_copied(const struct op *op);

/* An operation is issued: its program may have waited for nothing. */
void advise_issued(struct op *op);

/* The call `q` has waited for `op`, so long. */
void advise_waited(struct process *process, const struct vgpu_request *q, const struct op *op,
                   uint64_t waited_ps);

/* Device memory was allocated, or freed. */
void advise_allocated(struct process *process, const struct vgpu_request *q);
void advise_freed(struct process *process);

/* The program says goodbye; it is gone. */
void advise_calls_tell(struct process *process);
void advise_calls_free(struct process *process);

#endif
