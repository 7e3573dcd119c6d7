/* SPDX-License-Identifier: MIT
 * resource_pruning.h: leaves out resources of a route that can never limit its flows. An example is
 * a GPU's PCIe link, if all its flows also use the switch's link, which is no faster.
 */
#ifndef VGPU_RESOURCE_PRUNING_H
#define VGPU_RESOURCE_PRUNING_H

#include <stdbool.h>

#include "topology.h"

#define PRUNING_WORDS ((MAX_RESOURCES + 63) / 64)

/* For each resource, which others all routes through it use, too. All zero: no route is in use. */
struct pruning {
    bool known[MAX_RESOURCES];                     /* a route uses it */
    uint64_t always[MAX_RESOURCES][PRUNING_WORDS]; /* the resources that all of these routes use */
};

/* Adds a route to those in use; routes pruned earlier may have to be pruned again. */
void pruning_add(struct pruning *pruning, const struct route *route);

/* Returns `route`, which was added before, without the resources that cannot limit its flows while
 * only added routes are in use: leaving them out changes no rate. Capacities are indexed by
 * resource. */
struct route prune_route(const struct pruning *pruning, const double *capacity_bytes_s,
                         const struct route *route);

#endif
