/* SPDX-License-Identifier: MIT
 * resource_pruning.c: a mutant of vgpu/node/clock/resource_pruning.c; see wrong.h.
 */
#include "wrong.h"

struct route wrong_prune_route(const struct pruning *narrowing, const double *capacity_bytes_s,
                               const struct route *route)
{
    struct route narrowed = {.cap_bytes_s = route->cap_bytes_s, .length = 1};
    (void)narrowing;
    narrowed.resource[0] = route->resource[0];
    for (int k = 1; k < route->length; k++)
        if (capacity_bytes_s[route->resource[k]] < capacity_bytes_s[narrowed.resource[0]])
            narrowed.resource[0] = route->resource[k];
    return narrowed;
}
