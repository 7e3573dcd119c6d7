/* SPDX-License-Identifier: MIT
 * meeting.h: kernels of NCCL's collectives. One begins when the kernels of all ranks with which it
 * exchanges data have come. What it takes then is in the node description: NCCL's own protocols
 * take other times than the kernels that do its work here.
 */
#ifndef VGPU_MEETING_H
#define VGPU_MEETING_H

#include <stdbool.h>

#include "op.h"
#include "op_flows.h"

/* Is `op` a kernel of a collective that the node description describes? */
bool meeting_is_for(const struct topology *t, const struct op *op);

/* `op` comes; those that have come are in `waiting`. Operations for which nobody is missing any
 * more are appended to `begun`. */
void meeting_come(struct op_list *waiting, struct op *op, struct op_list *begun);

/* The time from the meeting to the first byte. */
uint64_t meeting_latency(const struct topology *t, const struct op *op);

/* Adds the flows of an operation that has begun. */
void meeting_send(struct sender *s, struct op *op, uint64_t now_ps);

#endif
