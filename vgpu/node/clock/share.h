/* SPDX-License-Identifier: MIT
 * share.h: rates of flows that share links, by max-min fairness.
 */
#ifndef VGPU_SHARE_H
#define VGPU_SHARE_H

#include <stdbool.h>

#include "topology.h"

/* The greatest number of routes: 8 paths between each two of the GPUs and the host, at two rates
 * (the first bytes of a copy are slower), which is 8 * 13 * 13 * 2 at most. */
#define MAX_GROUPS 4096

/* Results of a call that the next one can reuse. */
struct sharing;

struct sharing *sharing_new(void); /* NULL: host memory ran out */
void sharing_end(struct sharing *s);

/* The flows on one route. */
struct group {
    const struct route *route;
    double rate_bytes_s; /* rate of each flow */
    int flows;
    int part; /* component, see route_components.h */
};

/* Sets the rates of the `active_count` groups whose indices are in `active`, ordered by the cap of
 * their routes (each has at least one flow). The rates are max-min fair: no flow can be faster
 * without slowing down one that is not faster; no resource carries more than its
 * `capacity_bytes_s`, and no flow exceeds its route's cap. `same`: the groups and routes are those
 * of the last call, though with different numbers of flows. */
void share_rates(struct sharing *s, const double *capacity_bytes_s, int resource_count,
                 struct group *groups, const int *active, int active_count, bool same);

#endif
