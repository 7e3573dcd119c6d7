/* SPDX-License-Identifier: MIT
 * test_share.c: rates of random flows over random links are max-min fair: no link carries more than
 * it can, and every flow has its route's cap or a link that is full and on which no flow is faster
 * (Bertsekas and Gallager, Data Networks, 2nd ed., section 6.5.2). With the routes as they are, and
 * with those that narrow.c leaves.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "narrow.h"
#include "parts.h"
#include "schedule.h"
#include "share.h"

#define LINKS 100
#define ROUTES 150 /* more than a word has bits */
#define CASES 400
#define CLOSE 1e-9

static uint64_t state;
static int links; /* of LINKS */
static double capacity[LINKS];
static struct route routes[ROUTES], narrowed[ROUTES];
static struct group groups[ROUTES];
static int active[ROUTES], active_count;

static void expect(bool good, const char *format, ...)
{
    if (good)
        return;
    va_list list;
    va_start(list, format);
    fputs("share: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(1);
}

static int dice(int below)
{
    return (int)(vgpu_schedule_next(&state) % (uint64_t)below);
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
    double left = groups[*(const int *)a].route->cap_bytes_s,
           right = groups[*(const int *)b].route->cap_bytes_s;
    return (left > right) - (left < right);
}

static void draw(unsigned seed, int count)
{
    state = 88172645463325252ull * (2 * seed + 1);
    links = seed % 5 == 0 ? LINKS : 24;
    for (int r = 0; r < links; r++)
        capacity[r] = 1 + dice(seed % 3 == 0 ? 2 : 400);
    for (int g = 0; g < count; g++) {
        routes[g] = draw_route(seed % 2);
        narrow_add(&routes[g]);
        groups[g] = (struct group){.route = &routes[g], .flows = 1 + dice(9)};
        active[g] = g;
    }
    for (int g = 0; g < count; g++)
        narrowed[g] = narrow_route(capacity, &routes[g]);
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

static void check_fair(unsigned seed, const char *what)
{
    double carried[LINKS] = {0}, fastest[LINKS] = {0};
    for (int i = 0; i < active_count; i++) {
        const struct group *group = &groups[active[i]];
        const struct route *route = &routes[active[i]];
        expect(group->rate_bytes_s <= route->cap_bytes_s * (1 + CLOSE),
               "seed %u, %s: group %d has %g, its cap is %g", seed, what, active[i],
               group->rate_bytes_s, route->cap_bytes_s);
        for (int k = 0; k < route->length; k++) {
            carried[route->resource[k]] += group->rate_bytes_s * group->flows;
            fastest[route->resource[k]] = fmax(fastest[route->resource[k]], group->rate_bytes_s);
        }
    }
    for (int r = 0; r < links; r++)
        expect(carried[r] <= capacity[r] * (1 + CLOSE), "seed %u, %s: link %d carries %g of %g",
               seed, what, r, carried[r], capacity[r]);
    for (int i = 0; i < active_count; i++)
        expect(held_up(active[i], carried, fastest),
               "seed %u, %s: group %d has %g and could have more", seed, what, active[i],
               groups[active[i]].rate_bytes_s);
}

static void rates(bool narrow, bool same)
{
    int part[ROUTES];
    parts_of_routes(narrow ? narrowed : routes, active_count, part);
    for (int g = 0; g < active_count; g++) {
        groups[g].route = narrow ? &narrowed[g] : &routes[g];
        groups[g].part = part[g];
        groups[g].rate_bytes_s = same ? groups[g].rate_bytes_s : NAN;
    }
    share_rates(capacity, links, groups, active, active_count, same);
}

static int resources(const struct route *of)
{
    int count = 0;
    for (int g = 0; g < active_count; g++)
        count += of[g].length;
    return count;
}

/* Few and many groups, then other numbers of flows in the same groups. */
static void check_case(unsigned seed)
{
    static const int counts[] = {1, 2, 3, 7, 64, 65, 128, ROUTES};
    draw(seed, counts[seed % (sizeof counts / sizeof *counts)]);
    expect(seed % 2 == 0 || resources(narrowed) < resources(routes),
           "seed %u: every link of nested routes is said to limit somebody", seed);
    for (int narrow = 0; narrow <= 1; narrow++)
        for (int time = 0; time < 3; time++) {
            rates(narrow, time > 0);
            check_fair(seed, narrow ? "narrow routes" : "whole routes");
            for (int g = 0; g < active_count; g++)
                groups[g].flows = dice(4) ? groups[g].flows : 1 + dice(9);
        }
}

/* narrow.c never forgets a route: each case has a process of its own. */
int main(void)
{
    for (unsigned seed = 0; seed < CASES; seed++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            setrlimit(RLIMIT_CPU, &(struct rlimit){2, 2}); /* a case takes milliseconds */
            check_case(seed);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status))
            fprintf(stderr, "share: seed %u: signal %d (9: no end within 2 s)\n", seed,
                    WTERMSIG(status));
        if (status != 0)
            return 1;
    }
    printf("share: %d cases are max-min fair\n", CASES);
    return 0;
}
