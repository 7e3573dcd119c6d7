/* SPDX-License-Identifier: MIT
 * narrow.c: see narrow.h. A resource limits nobody if each route through it goes through another
 * one as well that carries no more: all its flows are among those of the other, which is full
 * before it is. Of resources with the same routes and capacity the first one counts.
 */
#include "narrow.h"

#include <stdbool.h>
#include <string.h>

#define BITS 64
#define WORDS ((MAX_RESOURCES + BITS - 1) / BITS)

static bool known[MAX_RESOURCES];             /* a route goes through it */
static uint64_t always[MAX_RESOURCES][WORDS]; /* those that all of these go through, too */

static bool goes_with(int resource, int other)
{
    return always[resource][other / BITS] >> other % BITS & 1;
}

void narrow_add(const struct route *route)
{
    uint64_t all[WORDS] = {0};
    for (int k = 0; k < route->length; k++)
        all[route->resource[k] / BITS] |= 1ull << route->resource[k] % BITS;
    for (int k = 0; k < route->length; k++) {
        int r = route->resource[k];
        for (int w = 0; w < WORDS; w++)
            always[r][w] = known[r] ? always[r][w] & all[w] : all[w];
        known[r] = true;
    }
}

/* Is `other` full whenever `resource` would be? Never both ways, so one of them always stays. */
static bool full_before(const double *capacity, int other, int resource)
{
    if (other == resource || !goes_with(resource, other) || capacity[other] > capacity[resource])
        return false;
    return capacity[other] < capacity[resource] || !goes_with(other, resource) || other < resource;
}

struct route narrow_route(const double *capacity_bytes_s, const struct route *route)
{
    struct route narrowed = {.cap_bytes_s = route->cap_bytes_s};
    for (int k = 0; k < route->length; k++) {
        bool limits = true;
        for (int other = 0; other < route->length && limits; other++)
            limits = !full_before(capacity_bytes_s, route->resource[other], route->resource[k]);
        if (limits)
            narrowed.resource[narrowed.length++] = route->resource[k];
    }
    return narrowed;
}
