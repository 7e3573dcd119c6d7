/* SPDX-License-Identifier: MIT
 * share.c: rates of random flows over random links are max-min fair: no link carries more than
 * it can, and every flow has its route's cap or a link that is full and on which no flow is faster
 * (Bertsekas and Gallager, Data Networks, 2nd ed., section 6.5.2). With the routes as they are, and
 * with those that resource_pruning.c leaves.
 */
#include "share.h"

#include <math.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resource_pruning.h"
#include "route_components.h"
#include "unit.h"
#include "wrong/wrong.h"

#define LINKS 100
#define ROUTES 150 /* more than a word has bits */
#define CASES 200
#define CLOSE 1e-9

/* What is tested: the rooms of the node, or one of them with a mistake. */
struct rules {
    __typeof__(&share_rates) share;
    __typeof__(&prune_route) narrow;
    __typeof__(&route_components) parts;
};

static const struct rules right = {share_rates, prune_route, route_components};
static const struct rules *rules = &right;
static struct sharing *sharing;
static int links; /* of LINKS */
static double capacity[LINKS];
static struct route routes[ROUTES], narrowed[ROUTES];
static struct group groups[ROUTES];
static int active[ROUTES], active_count;

static int dice(int below)
{
    return (int)unit_dice((uint64_t)below);
}

static bool has(const struct route *route, int link)
{
    for (int k = 0; k < route->length; k++)
        if (route->resource[k] == link)
            return true;
    return false;
}

/* Links come alone, or, nested, each with those that follow it in its block of four. */
static struct route draw_route(bool nested)
{
    struct route route = {.cap_bytes_s = 1 + dice(300)};
    int wanted = 1 + dice(MAX_ROUTE - 4);
    while (route.length < wanted) {
        int link = dice(links), end = nested ? link - link % 4 + 4 : link + 1;
        for (; link < end && route.length < MAX_ROUTE; link++)
            if (!has(&route, link))
                route.resource[route.length++] = link;
    }
    return route;
}

static int by_cap(const void *a, const void *b)
{
    double a_cap = groups[*(const int *)a].route->cap_bytes_s,
           b_cap = groups[*(const int *)b].route->cap_bytes_s;
    return (a_cap > b_cap) - (a_cap < b_cap);
}

static void draw(unsigned seed, int count)
{
    struct pruning *narrowing = calloc(1, sizeof *narrowing);
    unit_seed(seed);
    links = seed % 5 == 0 ? LINKS : 24;
    for (int r = 0; r < links; r++)
        capacity[r] = 1 + dice(seed % 3 == 0 ? 2 : 400);
    for (int g = 0; g < count; g++) {
        routes[g] = draw_route(seed % 2);
        pruning_add(narrowing, &routes[g]);
        groups[g] = (struct group){.route = &routes[g], .flows = 1 + dice(9)};
        active[g] = g;
    }
    for (int g = 0; g < count; g++)
        narrowed[g] = rules->narrow(narrowing, capacity, &routes[g]);
    free(narrowing);
    active_count = count;
    qsort(active, (size_t)count, sizeof *active, by_cap);
}

/* Is there a full link on the group's route that no flow crosses faster? */
static bool held_up(int g, const double *carried, const double *fastest)
{
    double rate = groups[g].rate_bytes_s;
    for (int k = 0; k < routes[g].length; k++) {
        int r = routes[g].resource[k];
        if (carried[r] >= capacity[r] * (1 - CLOSE) && rate >= fastest[r] * (1 - CLOSE))
            return true;
    }
    return rate >= routes[g].cap_bytes_s * (1 - CLOSE);
}

/* NULL: the rates are fair. */
static const char *check_fair(unsigned seed, const char *what)
{
    double carried[LINKS] = {0}, fastest[LINKS] = {0};
    for (int i = 0; i < active_count; i++) {
        const struct group *group = &groups[active[i]];
        const struct route *route = &routes[active[i]];
        if (!(group->rate_bytes_s <= route->cap_bytes_s * (1 + CLOSE)))
            return unit_says("seed %u, %s: group %d has %g, its cap is %g", seed, what, active[i],
                             group->rate_bytes_s, route->cap_bytes_s);
        for (int k = 0; k < route->length; k++) {
            carried[route->resource[k]] += group->rate_bytes_s * group->flows;
            fastest[route->resource[k]] = fmax(fastest[route->resource[k]], group->rate_bytes_s);
        }
    }
    for (int r = 0; r < links; r++)
        if (carried[r] > capacity[r] * (1 + CLOSE))
            return unit_says("seed %u, %s: link %d carries %g of %g", seed, what, r, carried[r],
                             capacity[r]);
    for (int i = 0; i < active_count; i++)
        if (!held_up(active[i], carried, fastest))
            return unit_says("seed %u, %s: group %d has %g and could have more", seed, what,
                             active[i], groups[active[i]].rate_bytes_s);
    return NULL;
}

static void rates(bool narrow, bool same)
{
    int part[ROUTES];
    rules->parts(narrow ? narrowed : routes, active_count, part);
    for (int g = 0; g < active_count; g++) {
        groups[g].route = narrow ? &narrowed[g] : &routes[g];
        groups[g].part = part[g];
        groups[g].rate_bytes_s = same ? groups[g].rate_bytes_s : NAN;
    }
    rules->share(sharing, capacity, links, groups, active, active_count, same);
}

static int resources(const struct route *of)
{
    int count = 0;
    for (int g = 0; g < active_count; g++)
        count += of[g].length;
    return count;
}

/* Few and many groups, then other numbers of flows in the same groups. NULL: all of it is fair. */
static const char *check_case(unsigned seed)
{
    static const int counts[] = {1, 2, 3, 7, 64, 65, 128, ROUTES};
    draw(seed, counts[seed % (sizeof counts / sizeof *counts)]);
    if (seed % 2 == 1 && resources(narrowed) >= resources(routes))
        return unit_says("seed %u: every link of nested routes is said to limit some flow", seed);
    for (int narrow = 0; narrow <= 1; narrow++)
        for (int time = 0; time < 3; time++) {
            rates(narrow, time > 0);
            const char *wrong = check_fair(seed, narrow ? "narrow routes" : "whole routes");
            if (wrong)
                return wrong;
            for (int g = 0; g < active_count; g++)
                groups[g].flows = dice(4) ? groups[g].flows : 1 + dice(9);
        }
    return NULL;
}

static const char *check_all(const struct rules *which)
{
    const char *wrong = NULL;
    rules = which;
    sharing = sharing_new();
    EXPECT(sharing, "%s", "no memory");
    for (unsigned seed = 0; seed < CASES && !wrong; seed++)
        wrong = check_case(seed);
    sharing_end(sharing);
    return wrong;
}

UNIT(rates_are_max_min_fair)
{
    const char *wrong = check_all(&right);
    EXPECT(!wrong, "%s", wrong);
}

/* The check finds something, or the mistake makes it run for ever: it has twice the processor time
 * that it takes where nothing is wrong. */
static bool rejects(const struct rules *which)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_usec = 300000}, NULL);
        _exit(check_all(which) != NULL);
    }
    waitpid(child, &status, 0);
    return status != 0;
}

UNIT(unfair_rates_are_rejected)
{
    EXPECT(rejects(&(struct rules){wrong_share_rates, prune_route, route_components}), "%s",
           "links that are split evenly");
    EXPECT(rejects(&(struct rules){share_rates, wrong_prune_route, route_components}), "%s",
           "routes cut down to their narrowest link");
    EXPECT(rejects(&(struct rules){share_rates, prune_route, wrong_route_components}), "%s",
           "components by the first link alone");
}
