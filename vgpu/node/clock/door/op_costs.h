/* SPDX-License-Identifier: MIT
 * op_costs.h: the time that an operation takes on a machine, apart from moving its bytes.
 */
#ifndef VGPU_OP_COSTS_H
#define VGPU_OP_COSTS_H

#include "op.h"
#include "topology.h"

/* The path of a copy, once its `direct` is set, and the path's costs. */
enum path copy_path(const struct op *op);
const struct path_model *copy_model(const struct topology *t, const struct op *op);

uint64_t copy_bytes(const struct op *op);

/* Time from its start to its first byte, in ps. */
uint64_t copy_latency(const struct topology *t, const struct op *op);
uint64_t fill_latency(const struct topology *t, const struct op *op);
uint64_t kernel_latency(const struct topology *t, const struct op *op);

/* What a kernel without work takes in a stream, in ps. */
uint64_t kernel_overhead(const struct topology *t, const struct op *op);

#endif
