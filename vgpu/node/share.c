/* SPDX-License-Identifier: MIT
 * share.c: see share.h. The bottleneck algorithm (Bertsekas and Gallager, Data Networks, 2nd ed.,
 * section 6.5.2): the resource with the least to give to each of its flows fixes their rate; what
 * they take is subtracted everywhere, and the next one follows. A route's own cap is a resource
 * that each flow has for itself.
 *
 * It runs once for each flow that comes or goes, so a round looks only at what it changes: each
 * resource knows its groups and its flows, from one time to the next while the groups are the same;
 * and what a resource can give is worked out anew only after somebody took from it.
 */
#include "share.h"

#include <math.h>
#include <string.h>

#define SHORT 4 /* resources: most routes have no more */

/* A resource that carries something; others are not looked at. */
struct used {
    double left;  /* bytes/s that nobody has yet */
    double share; /* what it can give to each of its users, unless it has changed */
    int users;    /* flows whose rate is still open */
    int changed;
};

/* A group's resources, by their numbers in `used`; up to SHORT what is too many is nobody's. */
struct user {
    int resource[MAX_ROUTE];
    int length;
    int counted; /* its flows that uses.flows has */
    bool fixed;  /* it has its rate */
};

/* Who uses what: as long as the same groups are active this stays. */
struct uses {
    double capacity[MAX_RESOURCES];
    int flows[MAX_RESOURCES + 1];                    /* of all its groups */
    int first[MAX_RESOURCES], groups[MAX_RESOURCES]; /* a resource's groups, in `member` */
    int member[MAX_GROUPS * MAX_ROUTE];
    int count;
    double lowest_cap; /* of all groups */
};

static struct uses uses;
static struct used used[MAX_RESOURCES + 1]; /* in the resources' order; the last one is nobody's */
static struct user users[MAX_GROUPS];
static int still_open[MAX_RESOURCES], open_count; /* those that have users */

/* Finds the resources in use; `groups` holds how many groups each one has. */
static void list_used(const double *capacity, int resources, const int *groups, int *place)
{
    int next = 0;
    uses.count = 0;
    for (int r = 0; r < resources; r++) {
        if (groups[r] == 0)
            continue;
        int u = place[r] = uses.count++;
        uses.capacity[u] = capacity[r];
        uses.first[u] = next;
        uses.groups[u] = 0;
        next += groups[r];
    }
}

static void list_route(struct user *user, int number, const struct route *route, const int *place)
{
    for (int k = 0; k < route->length; k++) {
        int u = user->resource[k] = place[route->resource[k]];
        uses.member[uses.first[u] + uses.groups[u]++] = number;
    }
    for (int k = route->length; k < SHORT; k++)
        user->resource[k] = uses.count;
    user->length = route->length < SHORT ? SHORT : route->length;
    user->counted = 0;
}

static void list_uses(const double *capacity, int resources, const struct group *groups,
                      const int *active, int n)
{
    int count[MAX_RESOURCES] = {0}, place[MAX_RESOURCES];
    for (int i = 0; i < n; i++) {
        const struct route *route = &groups[active[i]].route;
        for (int k = 0; k < route->length; k++)
            count[route->resource[k]]++;
    }
    list_used(capacity, resources, count, place);
    memset(uses.flows, 0, sizeof uses.flows);
    uses.lowest_cap = INFINITY;
    for (int i = 0; i < n; i++) {
        double cap = groups[active[i]].route.cap_bytes_s;
        list_route(&users[active[i]], active[i], &groups[active[i]].route, place);
        uses.lowest_cap = cap < uses.lowest_cap ? cap : uses.lowest_cap;
    }
}

/* No rate is fixed yet. */
static void begin(const struct group *groups, const int *active, int n)
{
    for (int i = 0; i < n; i++) {
        struct user *user = &users[active[i]];
        int more = groups[active[i]].flows - user->counted;
        user->fixed = false;
        user->counted += more;
        for (int k = 0; more != 0 && k < user->length; k++)
            uses.flows[user->resource[k]] += more;
    }
    for (int u = 0; u < uses.count; u++) {
        used[u] = (struct used){.left = uses.capacity[u], .users = uses.flows[u], .changed = 1};
        still_open[u] = u;
    }
    open_count = uses.count;
}

/* The one that can give least to each of its flows; NULL: no flow is left on any. */
static const struct used *bottleneck(void)
{
    const struct used *least = NULL;
    int kept = 0;
    double level = INFINITY;
    for (int i = 0; i < open_count; i++) {
        struct used *u = &used[still_open[i]];
        if (u->users == 0)
            continue;
        still_open[kept++] = still_open[i];
        if (u->changed)
            u->share = (u->left > 0 ? u->left : 0) / u->users;
        u->changed = 0;
        if (u->share < level) {
            level = u->share;
            least = u;
        }
    }
    open_count = kept;
    return least;
}

static void take(int resource, double bytes_s, int flows)
{
    struct used *u = &used[resource];
    u->left -= bytes_s;
    u->users -= flows;
    u->changed = 1;
}

static void fix(struct group *group, struct user *user, double rate)
{
    if (user->fixed)
        return;
    user->fixed = true;
    group->rate_bytes_s = rate;
    for (int k = 0; k < SHORT; k++)
        take(user->resource[k], rate * group->flows, group->flows);
    for (int k = SHORT; k < user->length; k++)
        take(user->resource[k], rate * group->flows, group->flows);
}

/* The groups of `open` whose rate is not fixed yet, and the lowest of their caps. */
struct caps {
    int open[MAX_GROUPS], count; /* -1: all, none has been looked at */
    double lowest;               /* none is below it */
};

/* Fixes those whose cap is not above `level`; the others stay, in order. False: there was none. */
static bool fix_capped(struct group *groups, const int *active, int n, struct caps *c, double level)
{
    int kept = 0;
    bool any = false;
    if (c->count < 0) {
        memcpy(c->open, active, (size_t)n * sizeof *active);
        c->count = n;
    }
    c->lowest = INFINITY;
    for (int i = 0; i < c->count; i++) {
        int g = c->open[i];
        double cap = groups[g].route.cap_bytes_s;
        if (users[g].fixed)
            continue;
        if (cap <= level) {
            fix(&groups[g], &users[g], cap);
            any = true;
            continue;
        }
        c->open[kept++] = g;
        c->lowest = cap < c->lowest ? cap : c->lowest;
    }
    c->count = kept;
    return any;
}

void share_rates(const double *capacity_bytes_s, int resource_count, struct group *groups,
                 const int *active, int active_count, bool same)
{
    static struct caps caps;
    if (!same)
        list_uses(capacity_bytes_s, resource_count, groups, active, active_count);
    begin(groups, active, active_count);
    caps.count = -1;
    caps.lowest = uses.lowest_cap;
    for (;;) {
        const struct used *least = bottleneck();
        double level = least ? least->share : INFINITY;
        if (caps.lowest <= level && fix_capped(groups, active, active_count, &caps, level))
            continue;
        if (!least)
            return;
        const int *member = &uses.member[uses.first[least - used]];
        for (int i = 0; i < uses.groups[least - used]; i++)
            fix(&groups[member[i]], &users[member[i]], level);
    }
}
