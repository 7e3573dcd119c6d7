/* SPDX-License-Identifier: MIT
 * share.c: see share.h. The bottleneck algorithm (Bertsekas and Gallager, Data Networks, 2nd ed.,
 * section 6.5.2): the resource with the least to give to each of its flows fixes their rate; what
 * they take is subtracted everywhere, and the next one follows. A route's own cap is a resource
 * that each flow has for itself.
 */
#include "share.h"

#include <math.h>
#include <stdbool.h>

struct state {
    double left[MAX_RESOURCES]; /* bytes/s that nobody has yet */
    int users[MAX_RESOURCES];   /* flows whose rate is still open */
    int used[MAX_RESOURCES], used_count;
};

static void count_users(struct state *s, const double *capacity, int resources,
                        struct group *groups, const int *active, int n)
{
    for (int r = 0; r < resources; r++)
        s->users[r] = 0;
    for (int i = 0; i < n; i++) {
        const struct group *g = &groups[active[i]];
        for (int k = 0; k < g->route.length; k++)
            s->users[g->route.resource[k]] += g->flows;
    }
    s->used_count = 0;
    for (int r = 0; r < resources; r++) {
        s->left[r] = capacity[r];
        if (s->users[r])
            s->used[s->used_count++] = r;
    }
}

static double share_of(const struct state *s, int r)
{
    return fmax(s->left[r], 0) / s->users[r];
}

/* The resource that can give least to each of its flows; -1: no flow is left on any. */
static int bottleneck(const struct state *s)
{
    int least = -1;
    for (int i = 0; i < s->used_count; i++) {
        int r = s->used[i];
        if (s->users[r] > 0 && (least < 0 || share_of(s, r) < share_of(s, least)))
            least = r;
    }
    return least;
}

static bool passes(const struct route *route, int resource)
{
    for (int k = 0; k < route->length; k++)
        if (route->resource[k] == resource)
            return true;
    return false;
}

static void fix(struct state *s, struct group *g, double rate)
{
    g->rate_bytes_s = rate;
    for (int k = 0; k < g->route.length; k++) {
        s->left[g->route.resource[k]] -= rate * g->flows;
        s->users[g->route.resource[k]] -= g->flows;
    }
}

/* Fixes the groups whose cap is not above what the bottleneck gives, or else those that go through
 * the bottleneck. How many are open afterwards; they stay in `open`, in order. */
static int fix_some(struct state *s, struct group *groups, int *open, int count)
{
    int resource = bottleneck(s), capped = 0, kept = 0;
    double level = resource >= 0 ? share_of(s, resource) : INFINITY;
    for (int i = 0; i < count; i++)
        capped += groups[open[i]].route.cap_bytes_s <= level;
    for (int i = 0; i < count; i++) {
        struct group *g = &groups[open[i]];
        if (capped ? g->route.cap_bytes_s <= level : passes(&g->route, resource))
            fix(s, g, capped ? g->route.cap_bytes_s : level);
        else
            open[kept++] = open[i];
    }
    return kept;
}

void share_rates(const double *capacity_bytes_s, int resource_count, struct group *groups,
                 const int *active, int active_count)
{
    static int open[MAX_GROUPS];
    struct state s;
    count_users(&s, capacity_bytes_s, resource_count, groups, active, active_count);
    for (int i = 0; i < active_count; i++)
        open[i] = active[i];
    for (int count = active_count; count > 0;)
        count = fix_some(&s, groups, open, count);
}
