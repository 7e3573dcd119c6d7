/* SPDX-License-Identifier: MIT
 * flows.c: the cost of the node's links: microseconds to add and remove a flow, with 1,000 and with
 * 100,000 at once over the links of an 8-GPU node (dgx-a100), and the goal.
 *
 * bench-flows [FLOWS...]: other numbers at once.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "flow.h"

#define GOAL_US 5.0

static uint64_t state = 88172645463325252ull;

/* The same sequence on every computer (Marsaglia, "Xorshift RNGs", 2003). */
static uint64_t dice(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* independent of other load */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct flows *flows;

/* A copy between two GPUs, or one and the host, of up to 64 MiB. */
static void add(const struct topology *t, uint64_t now_ps)
{
    static const enum path paths[] = {PATH_PEER, PATH_PEER, PATH_H2D_PINNED, PATH_D2H_PINNED,
                                      PATH_STAGED};
    int n = t->info.device_count, from = (int)dice((uint64_t)n),
        to = (from + 1 + (int)dice((uint64_t)n - 1)) % n;
    uint64_t bytes = 1 + dice(64 << 20);
    enum path path = paths[dice(sizeof paths / sizeof *paths)];
    struct route route = topology_route(t, path, from, to, bytes);
    flows_add(flows, NULL, &route, bytes, now_ps);
}

static void take_one(void)
{
    flows_take_arrived(flows, flows_next_ps(flows));
}

/* Microseconds per flow: adds `count` flows, then removes one after the other. */
static double come_and_go(const struct topology *t, int count)
{
    double start = seconds();
    for (int i = 0; i < count; i++)
        add(t, 0);
    for (int i = 0; i < count; i++)
        take_one();
    flows_restart(flows);
    return (seconds() - start) / count * 1e6;
}

/* The same with `count` active flows all the time: each one that ends is replaced. */
static double keep_going(const struct topology *t, int count)
{
    enum { TURNS = 20000 };
    for (int i = 0; i < count; i++)
        add(t, 0);
    double start = seconds();
    for (int i = 0; i < TURNS; i++) {
        uint64_t now_ps = flows_next_ps(flows);
        take_one();
        add(t, now_ps);
    }
    double each = (seconds() - start) / TURNS;
    for (int i = 0; i < count; i++)
        take_one();
    flows_restart(flows);
    return each * 1e6;
}

/* The best of five, printed. */
static double figure(const struct topology *t, int count, const char *what,
                     double (*measure)(const struct topology *t, int count))
{
    char name[64];
    double us = 1e9;
    for (int run = 0; run < 5; run++) {
        double one = measure(t, count);
        us = one < us ? one : us;
    }
    snprintf(name, sizeof name, "%d flows%s", count, what);
    printf("%-24s %-16s %-4s %.2f us each\n", name, "5 us", us <= GOAL_US ? "yes" : "NO", us);
    return us;
}

/* Whether each costs no more than the goal, and the largest number at most twice as much per flow
 * as the smallest, since they do not all fit into a cache. */
static bool held(const double us[2], double *fewest, int i)
{
    bool good = true;
    for (int k = 0; k < 2; k++) {
        good &= us[k] <= GOAL_US && (i == 0 || us[k] <= 2 * fewest[k]);
        fewest[k] = i == 0 ? us[k] : fewest[k];
    }
    return good;
}

int main(int argc, char **argv)
{
    static struct topology t;
    char error[512];
    if (topology_load(&t, NODES_DIR, "dgx-a100", error, sizeof error) != 0) {
        fprintf(stderr, "bench-flows: %s\n", error);
        return 1;
    }
    flows = flows_new(&t);
    if (!flows)
        return 1;
    static const int usual[] = {1000, 100000};
    double fewest[2];
    bool good = true;
    for (int i = 0; i < (argc > 1 ? argc - 1 : 2); i++) {
        int count = argc > 1 ? atoi(argv[i + 1]) : usual[i];
        double us[2];
        us[0] = figure(&t, count, "", come_and_go);
        us[1] = figure(&t, count, ", all the time", keep_going);
        good &= held(us, fewest, i);
    }
    return good || argc > 1 ? 0 : 1;
}
