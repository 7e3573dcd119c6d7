/* SPDX-License-Identifier: MIT
 * narrow_wrong.c: a mutant of vgpu/node/narrow.c that node.share must reject: only the narrowest
 * resource of a route counts, whoever else may use the others.
 */
#include "narrow.h"

void narrow_add(const struct route *route)
{
    (void)route;
}

struct route narrow_route(const double *capacity_bytes_s, const struct route *route)
{
    struct route narrowed = {.cap_bytes_s = route->cap_bytes_s, .length = 1};
    narrowed.resource[0] = route->resource[0];
    for (int k = 1; k < route->length; k++)
        if (capacity_bytes_s[route->resource[k]] < capacity_bytes_s[narrowed.resource[0]])
            narrowed.resource[0] = route->resource[k];
    return narrowed;
}
