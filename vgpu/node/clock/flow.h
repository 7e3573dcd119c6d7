/* SPDX-License-Identifier: MIT
 * flow.h: bytes on their way over shared links, with max-min fair sharing.
 */
#ifndef VGPU_FLOW_H
#define VGPU_FLOW_H

#include <stdint.h>

#include "topology.h"

struct op;

#define FLOW_NEVER UINT64_MAX
#define FLOW_END (UINT64_MAX >> 1) /* nothing arrives later: 106 days */

/* All flows of a node, and its links. */
struct flows;

struct flows *flows_new(const struct topology *topology); /* NULL: out of memory */
void flows_end(struct flows *f);

/* Adds a flow for `op` at `now_ps` (never before an earlier call's time). */
void flows_add(struct flows *f, struct op *op, const struct route *route, uint64_t bytes,
               uint64_t now_ps);

/* Calls `watch` whenever the rates have changed, with what each resource carries from then on. */
void flows_watch(struct flows *f, void (*watch)(void *self, uint64_t at_ps, const double *bytes_s),
                 void *self);

/* Nothing is on its way: time begins at 0 again. */
void flows_restart(struct flows *f);

/* When the next flow arrives, or FLOW_NEVER. */
uint64_t flows_next_ps(struct flows *f);

/* Takes one flow that has arrived by `now_ps` off the links; its op, or NULL. */
struct op *flows_take_arrived(struct flows *f, uint64_t now_ps);

#endif
