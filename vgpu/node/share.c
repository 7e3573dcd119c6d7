/* SPDX-License-Identifier: MIT
 * share.c: see share.h. The bottleneck algorithm (Bertsekas and Gallager, Data Networks, 2nd ed.,
 * section 6.5.2): the resource with the least to give to each of its flows fixes their rate; what
 * they take is subtracted everywhere, and the next one follows. A route's own cap is a resource
 * that each flow has for itself.
 *
 * It runs once for each flow that comes or goes, so a round looks only at what it changes: each
 * resource knows its groups, and what a resource can give is worked out anew only after somebody
 * took from it.
 */
#include "share.h"

#include <math.h>
#include <stdbool.h>

/* Of the resources that carry something, in order; others are not looked at. */
struct state {
    double share[MAX_RESOURCES]; /* what each can give to each of its users; INFINITY: has none */
    double left[MAX_RESOURCES];  /* bytes/s that nobody has yet */
    int users[MAX_RESOURCES];    /* flows whose rate is still open */
    int first[MAX_RESOURCES], groups[MAX_RESOURCES]; /* its groups, in `member` */
    int count;
    int changed[MAX_RESOURCES], changed_count; /* `share` is not what it should be */
    bool is_changed[MAX_RESOURCES];
};

static struct state s;
static int place[MAX_RESOURCES]; /* of a resource in the state */
static int member[MAX_GROUPS * MAX_ROUTE];
static bool fixed[MAX_GROUPS];

static void touch(int u)
{
    if (s.is_changed[u])
        return;
    s.is_changed[u] = true;
    s.changed[s.changed_count++] = u;
}

static void work_out_shares(void)
{
    for (int i = 0; i < s.changed_count; i++) {
        int u = s.changed[i];
        double left = s.left[u] > 0 ? s.left[u] : 0;
        s.share[u] = s.users[u] ? left / s.users[u] : INFINITY;
        s.is_changed[u] = false;
    }
    s.changed_count = 0;
}

/* Finds the resources in use; `users` holds each one's flows, by number. */
static void list_used(const double *capacity, int resources, const int *users, const int *groups)
{
    int next = 0;
    s.count = s.changed_count = 0;
    for (int r = 0; r < resources; r++) {
        if (users[r] == 0)
            continue;
        int u = place[r] = s.count++;
        s.left[u] = capacity[r];
        s.users[u] = users[r];
        s.first[u] = next;
        s.groups[u] = 0;
        next += groups[r];
        s.is_changed[u] = false;
        touch(u);
    }
}

static void begin(const double *capacity, int resources, const struct group *groups,
                  const int *active, int n)
{
    int users[MAX_RESOURCES] = {0}, count[MAX_RESOURCES] = {0};
    for (int i = 0; i < n; i++) {
        const struct group *g = &groups[active[i]];
        fixed[active[i]] = false;
        for (int k = 0; k < g->route.length; k++) {
            users[g->route.resource[k]] += g->flows;
            count[g->route.resource[k]]++;
        }
    }
    list_used(capacity, resources, users, count);
    for (int i = 0; i < n; i++) {
        const struct route *route = &groups[active[i]].route;
        for (int k = 0; k < route->length; k++) {
            int u = place[route->resource[k]];
            member[s.first[u] + s.groups[u]++] = active[i];
        }
    }
}

/* The one that can give least to each of its flows; -1: no flow is left on any. */
static int bottleneck(void)
{
    int least = -1;
    double level = INFINITY;
    work_out_shares();
    for (int u = 0; u < s.count; u++)
        if (s.share[u] < level) {
            level = s.share[u];
            least = u;
        }
    return least;
}

static void fix(struct group *groups, int number, double rate)
{
    struct group *g = &groups[number];
    if (fixed[number])
        return;
    fixed[number] = true;
    g->rate_bytes_s = rate;
    for (int k = 0; k < g->route.length; k++) {
        int u = place[g->route.resource[k]];
        s.left[u] -= rate * g->flows;
        s.users[u] -= g->flows;
        touch(u);
    }
}

/* The groups of `open` whose rate is not fixed yet, and the lowest of their caps. */
struct caps {
    int open[MAX_GROUPS], count;
    double lowest; /* none is below it */
};

/* Fixes those whose cap is not above `level`; the others stay, in order. False: there was none. */
static bool fix_capped(struct group *groups, struct caps *c, double level)
{
    int kept = 0;
    bool any = false;
    c->lowest = INFINITY;
    for (int i = 0; i < c->count; i++) {
        double cap = groups[c->open[i]].route.cap_bytes_s;
        if (fixed[c->open[i]])
            continue;
        if (cap <= level) {
            fix(groups, c->open[i], cap);
            any = true;
            continue;
        }
        c->open[kept++] = c->open[i];
        c->lowest = cap < c->lowest ? cap : c->lowest;
    }
    c->count = kept;
    return any;
}

void share_rates(const double *capacity_bytes_s, int resource_count, struct group *groups,
                 const int *active, int active_count)
{
    static struct caps caps;
    begin(capacity_bytes_s, resource_count, groups, active, active_count);
    for (int i = 0; i < active_count; i++)
        caps.open[i] = active[i];
    caps.count = active_count;
    caps.lowest = 0;
    for (;;) {
        int resource = bottleneck();
        double level = resource >= 0 ? s.share[resource] : INFINITY;
        if (caps.lowest <= level && fix_capped(groups, &caps, level))
            continue;
        if (resource < 0)
            return;
        for (int i = 0; i < s.groups[resource]; i++)
            fix(groups, member[s.first[resource] + i], level);
    }
}
