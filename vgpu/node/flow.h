/* SPDX-License-Identifier: MIT
 * flow.h: bytes on their way over shared links, with max-min fair sharing.
 */
#ifndef VGPU_FLOW_H
#define VGPU_FLOW_H

#include <stdint.h>

#include "topology.h"

struct op;

#define FLOW_NEVER UINT64_MAX

void flow_start(const struct topology *topology);

/* Adds a flow for `op` at `now_ps` (never before an earlier call's time). */
void flow_add(struct op *op, const struct route *route, uint64_t bytes, uint64_t now_ps);

/* Calls `watch` whenever the rates have changed, with what each resource carries from then on. */
void flow_watch(void (*watch)(uint64_t at_ps, const double *bytes_s));

/* Nothing is on its way: time begins at 0 again. */
void flow_restart(void);

/* When the next flow arrives, or FLOW_NEVER. */
uint64_t flow_next_ps(void);

/* Takes one flow that has arrived by `now_ps` off the links; its op, or NULL. */
struct op *flow_take_arrived(uint64_t now_ps);

#endif
