/* SPDX-License-Identifier: MIT
 * resource_pruning.c: see resource_pruning.h. A resource limits no flow if every route through it
 * also uses one other resource with no more capacity: that one carries the same flows at least and
 * is full first. Of several resources with the same routes and capacity, the first one is kept.
 */
#include "resource_pruning.h"

#define BITS 64

static bool goes_with(const struct pruning *n, int resource, int other)
{
    return n->always[resource][other / BITS] >> other % BITS & 1;
}

void pruning_add(struct pruning *n, const struct route *route)
{
    uint64_t all[PRUNING_WORDS] = {0};
    for (int k = 0; k < route->length; k++)
        all[route->resource[k] / BITS] |= 1ull << route->resource[k] % BITS;
    for (int k = 0; k < route->length; k++) {
        int r = route->resource[k];
        for (int w = 0; w < PRUNING_WORDS; w++)
            n->always[r][w] = n->known[r] ? n->always[r][w] & all[w] : all[w];
        n->known[r] = true;
    }
}

/* True if `other` is full whenever `resource` is. Never true in both directions, so one of the two
 * is always kept. */
static bool full_before(const struct pruning *n, const double *capacity, int other, int resource)
{
    if (other == resource || !goes_with(n, resource, other) || capacity[other] > capacity[resource])
        return false;
    return capacity[other] < capacity[resource] || !goes_with(n, other, resource) ||
           other < resource;
}

struct route prune_route(const struct pruning *n, const double *capacity_bytes_s,
                         const struct route *route)
{
    struct route narrowed = {.cap_bytes_s = route->cap_bytes_s};
    for (int k = 0; k < route->length; k++) {
        bool limits = true;
        for (int other = 0; other < route->length && limits; other++)
            limits = !full_before(n, capacity_bytes_s, route->resource[other], route->resource[k]);
        if (limits)
            narrowed.resource[narrowed.length++] = route->resource[k];
    }
    return narrowed;
}
