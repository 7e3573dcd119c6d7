/* SPDX-License-Identifier: MIT
 * sending.h: an operation as flows over links: the way of a copy, the memories a kernel touched.
 * The clock (sim.c) says when.
 */
#ifndef VGPU_SENDING_H
#define VGPU_SENDING_H

#include "op.h"
#include "topology.h"

void sending_start(const struct topology *topology);

/* From its start to its first byte. */
uint64_t copy_latency(const struct op *op);
uint64_t kernel_latency(const struct op *op);

/* Of it, what bank conflicts add: each takes its processor a cycle. */
uint64_t kernel_conflict_ps(const struct op *op);

/* The GPUs at both ends of a copy; -1: the host. */
void sending_ends(const struct op *op, int *from, int *to);

/* Add flows for `op` (op->flows): none where nothing has to be moved. */
void send_copy(struct op *op);
void send_memset(struct op *op);
void send_counts(struct op *op, const struct vgpu_run_counts *counts);

/* True: the copy has come to speed, and its other bytes are on their way. */
bool send_later_bytes(struct op *op);

#endif
