/* SPDX-License-Identifier: MIT
 * resource_pruning.h: which resources of a route can ever limit its flows. A GPU's PCIe link whose
 * every flow goes through its switch's, too, and that is no narrower, never does.
 */
#ifndef VGPU_RESOURCE_PRUNING_H
#define VGPU_RESOURCE_PRUNING_H

#include <stdbool.h>

#include "topology.h"

#define PRUNING_WORDS ((MAX_RESOURCES + 63) / 64)

/* What the routes in use have in common. All zero: none is in use. */
struct pruning {
    bool known[MAX_RESOURCES];                     /* a route goes through it */
    uint64_t always[MAX_RESOURCES][PRUNING_WORDS]; /* those that all of these go through, too */
};

/* A route is in use from now on, so others may have to be narrowed anew. */
void pruning_add(struct pruning *narrowing, const struct route *route);

/* `route`, which was added, without those of its resources that limit no flow as long as nothing is
 * in use that was not added: no rate changes when they are left out. Capacities by resource. */
struct route prune_route(const struct pruning *narrowing, const double *capacity_bytes_s,
                         const struct route *route);

#endif
