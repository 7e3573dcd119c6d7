/* SPDX-License-Identifier: MIT
 * flow.h: flows of bytes over shared links, with max-min fair sharing.
 */
#ifndef VGPU_FLOW_H
#define VGPU_FLOW_H

#include <stdint.h>

#include "topology.h"

struct op;

#define FLOW_NEVER UINT64_MAX
#define FLOW_END (UINT64_MAX >> 1) /* latest time of arrival: 106 days */

/* All flows and links of a node. */
struct flows;

struct flows *flows_new(const struct topology *topology); /* NULL: host memory ran out */
void flows_end(struct flows *f);

/* Adds a flow for `op` at `now_ps`, which must not be before the time of an earlier call. */
void flows_add(struct flows *f, struct op *op, const struct route *route, uint64_t bytes,
               uint64_t now_ps);

/* Calls `watch` whenever rates have changed, with the rate of each resource from then on. */
void flows_watch(struct flows *f, void (*watch)(void *self, uint64_t at_ps, const double *bytes_s),
                 void *self);

/* Resets time to 0. There must be no flows. */
void flows_restart(struct flows *f);

/* The time when the next flow arrives, or FLOW_NEVER. */
uint64_t flows_next_ps(struct flows *f);

/* Removes one flow that has arrived by `now_ps`; returns its operation, or NULL. */
struct op *flows_take_arrived(struct flows *f, uint64_t now_ps);

#endif
