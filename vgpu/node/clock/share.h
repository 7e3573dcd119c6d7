/* SPDX-License-Identifier: MIT
 * share.h: how fast flows are that share links: max-min fairness.
 */
#ifndef VGPU_SHARE_H
#define VGPU_SHARE_H

#include <stdbool.h>

#include "topology.h"

/* Each path between each two of the GPUs and the host, at two rates (a copy's first bytes are
 * slower), is 8 * 13 * 13 * 2 routes at most. */
#define MAX_GROUPS 4096

/* What a call has found out for the next one. */
struct sharing;

struct sharing *sharing_new(void); /* NULL: out of memory */
void sharing_end(struct sharing *s);

/* Flows on the same route. */
struct group {
    const struct route *route;
    double rate_bytes_s; /* of each of them */
    int flows;
    int part; /* see route_components.h */
};

/* Sets the rate of the `active_count` groups whose numbers are in `active`, the lowest cap first
 * (each with a flow at least): no flow can be faster without making one slower that is not faster
 * than itself, no resource carries more than its `capacity_bytes_s`, no flow goes beyond its
 * route's cap. `same`: the groups and routes are those of the last call, though there may be other
 * numbers of flows. */
void share_rates(struct sharing *s, const double *capacity_bytes_s, int resource_count,
                 struct group *groups, const int *active, int active_count, bool same);

#endif
