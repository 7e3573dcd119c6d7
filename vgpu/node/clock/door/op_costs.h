/* SPDX-License-Identifier: MIT
 * op_costs.h: what an operation costs on a machine, apart from the bytes that it moves.
 */
#ifndef VGPU_OP_COSTS_H
#define VGPU_OP_COSTS_H

#include "op.h"
#include "topology.h"

/* Over which path a copy goes, once its `direct` is set; and what that costs. */
enum path copy_path(const struct op *op);
const struct path_model *copy_model(const struct topology *t, const struct op *op);

uint64_t copy_bytes(const struct op *op);

/* From its start to its first byte. */
uint64_t copy_latency(const struct topology *t, const struct op *op);
uint64_t kernel_latency(const struct topology *t, const struct op *op);

/* Of it, what bank conflicts add: each takes its processor a cycle. */
uint64_t kernel_conflict_ps(const struct topology *t, const struct op *op);

#endif
