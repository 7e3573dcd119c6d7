/* SPDX-License-Identifier: MIT
 * meeting.h: kernels of NCCL's collectives. One begins when the kernels of all ranks with which it
 * exchanges data have come. What it takes then is in the node description: NCCL's own protocols
 * take other times than the kernels that do its work here.
 */
#ifndef VGPU_MEETING_H
#define VGPU_MEETING_H

#include <stdbool.h>

#include "event_queue.h"
#include "op.h"
#include "op_flows.h"

/* Is `op` a kernel of a collective that the node description describes? */
bool meeting_is_for(const struct topology *t, const struct op *op);

struct meetings {
    const struct topology *topology;
    struct event_queue *events;
    struct op_list waiting; /* operations that have come, and whose other ranks have not all */
};

/* `op` comes. The first byte of those for which nobody is missing any more gets an event. */
void meetings_come(struct meetings *meetings, struct op *op, uint64_t now_ps);

/* Nothing else happens any more: all that wait begin, since a rank's process must have ended.
 * False: none waits. */
bool meetings_leave(struct meetings *meetings, uint64_t now_ps);

/* Adds the flows of an operation that has begun. */
void meeting_send(struct sender *s, struct op *op, uint64_t now_ps);

#endif
