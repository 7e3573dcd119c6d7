/* SPDX-License-Identifier: MIT
 * share_wrong.c: a mutant of vgpu/node/clock/share.c that unit.node and node.oracle must reject:
 * every link is split evenly, and what a flow leaves because another link holds it up goes to
 * nobody.
 */
#include <math.h>
#include <stdlib.h>

#include "share.h"

struct sharing *sharing_new(void)
{
    return malloc(1); /* it keeps nothing */
}

void sharing_end(struct sharing *s)
{
    free(s);
}

void share_rates(struct sharing *s, const double *capacity_bytes_s, int resource_count,
                 struct group *groups, const int *active, int active_count, bool same)
{
    int users[MAX_RESOURCES] = {0};
    (void)s;
    (void)resource_count;
    (void)same;
    for (int i = 0; i < active_count; i++)
        for (int k = 0; k < groups[active[i]].route->length; k++)
            users[groups[active[i]].route->resource[k]] += groups[active[i]].flows;
    for (int i = 0; i < active_count; i++) {
        struct group *g = &groups[active[i]];
        g->rate_bytes_s = g->route->cap_bytes_s;
        for (int k = 0; k < g->route->length; k++) {
            int r = g->route->resource[k];
            g->rate_bytes_s = fmin(g->rate_bytes_s, capacity_bytes_s[r] / users[r]);
        }
    }
}
