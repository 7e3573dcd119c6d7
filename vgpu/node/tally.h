/* SPDX-License-Identifier: MIT
 * tally.h: what is right and slower than it need be: counted for each place in the program, told at
 * its end, with what it cost in virtual time. Advice, never a finding.
 */
#ifndef VGPU_TALLY_H
#define VGPU_TALLY_H

#include "server.h"

/* A copy is issued / is over. */
void tally_copied(const struct op *op);

/* An operation is issued by `c`: it may have waited for nothing. */
void tally_issued(const struct connection *c, struct op *op);

/* The call that `c` has made has waited, up to the reply's clock. */
void tally_waited(const struct connection *c);

/* Device memory was allocated, or freed. */
void tally_allocated(const struct connection *c);
void tally_freed(struct process *process);

/* The program says goodbye; it is gone. */
void tally_tell(struct process *process);
void tally_free(struct process *process);

#endif
