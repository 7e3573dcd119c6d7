/* SPDX-License-Identifier: MIT
 * op_flows.h: the flows of an operation: the route of a copy, the memories that a kernel accessed.
 * The clock (sim.c) determines when they start.
 */
#ifndef VGPU_OP_FLOWS_H
#define VGPU_OP_FLOWS_H

#include "flow.h"
#include "op.h"
#include "topology.h"

struct sender {
    const struct topology *topology;
    struct flows *flows;
    void (*watch)(void *self, const struct route *route, uint64_t bytes); /* NULL: not observed */
    void *self;
};

/* Add the flows of `op` at `now_ps` (op->clock.flows); none if nothing has to be moved. */
void send_copy(struct sender *s, struct op *op, uint64_t now_ps);
void send_memset(struct sender *s, struct op *op, uint64_t now_ps);
void send_counts(struct sender *s, struct op *op, uint64_t now_ps,
                 const struct vgpu_run_counts *counts);

/* Sends `bytes` in equal parts to the GPUs of the set `to`, at `bytes_s` in all; to none: receives
 * them at that rate. */
void send_to_gpus(struct sender *s, struct op *op, uint64_t now_ps, uint32_t to, uint64_t bytes,
                  double bytes_s);

/* Called when a flow of `op` has arrived. True: it was the first, slower part of a copy, and the
 * flow of its other bytes has been added. */
bool send_later_bytes(struct sender *s, struct op *op, uint64_t now_ps);

#endif
