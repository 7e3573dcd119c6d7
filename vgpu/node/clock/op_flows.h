/* SPDX-License-Identifier: MIT
 * op_flows.h: an operation as flows over links: the way of a copy, the memories a kernel touched.
 * The clock (sim.c) says when.
 */
#ifndef VGPU_OP_FLOWS_H
#define VGPU_OP_FLOWS_H

#include "flow.h"
#include "op.h"
#include "topology.h"

struct sender {
    const struct topology *topology;
    struct flows *flows;
    void (*watch)(void *self, const struct route *route, uint64_t bytes); /* NULL: not watched */
    void *self;
};

/* Add flows for `op` at `now_ps` (op->clock.flows): none where nothing has to be moved. */
void send_copy(struct sender *s, struct op *op, uint64_t now_ps);
void send_memset(struct sender *s, struct op *op, uint64_t now_ps);
void send_counts(struct sender *s, struct op *op, uint64_t now_ps,
                 const struct vgpu_run_counts *counts);

/* True: the copy has come to speed, and its other bytes are on their way. */
bool send_later_bytes(struct sender *s, struct op *op, uint64_t now_ps);

#endif
