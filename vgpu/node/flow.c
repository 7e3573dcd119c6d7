/* SPDX-License-Identifier: MIT
 * flow.c: see flow.h.
 *
 * Rates change only when a flow comes or goes. Then what was sent is booked, and rates are found
 * anew by progressive filling: every flow grows at the same pace until a resource (or the flow's
 * own limit) is full, those that it holds stop, the others go on. The loops run in a fixed order,
 * and the compiler may not fuse or reorder the arithmetic, so results are the same everywhere.
 */
#include "flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct flow {
    struct op *op;
    struct route route;
    double left_bytes, rate_bytes_s;
    int frozen;
};

static const struct topology *topology;
static struct flow *flows;
static int count, room;
static uint64_t booked_ps; /* all flows' left_bytes are as of then */
static uint64_t next_ps = FLOW_NEVER;

#define PS_PER_S 1e12

void flow_start(const struct topology *t)
{
    topology = t;
}

static void book(uint64_t now_ps)
{
    double seconds = (double)(now_ps - booked_ps) / PS_PER_S;
    for (int i = 0; i < count; i++)
        flows[i].left_bytes -= flows[i].rate_bytes_s * seconds;
    booked_ps = now_ps;
}

/* How much every unfrozen flow can still grow before something is full. */
static double headroom(const double *free_rate, const int *users)
{
    double least = INFINITY;
    for (int r = 0; r < topology->resource_count; r++)
        if (users[r] > 0)
            least = fmin(least, free_rate[r] / users[r]);
    for (int i = 0; i < count; i++)
        if (!flows[i].frozen)
            least = fmin(least, flows[i].route.cap_bytes_s - flows[i].rate_bytes_s);
    return fmax(least, 0);
}

static int is_full(const struct flow *f, const double *free_rate)
{
    if (f->route.cap_bytes_s - f->rate_bytes_s <= f->route.cap_bytes_s * 1e-12)
        return 1;
    for (int k = 0; k < f->route.length; k++) {
        int r = f->route.resource[k];
        if (free_rate[r] <= topology->rate_bytes_s[r] * 1e-12)
            return 1;
    }
    return 0;
}

static void share(void)
{
    double free_rate[MAX_RESOURCES];
    int users[MAX_RESOURCES] = {0}, moving = count;
    memcpy(free_rate, topology->rate_bytes_s, sizeof free_rate);
    for (int i = 0; i < count; i++) {
        flows[i].rate_bytes_s = 0;
        flows[i].frozen = 0;
        for (int k = 0; k < flows[i].route.length; k++)
            users[flows[i].route.resource[k]]++;
    }
    while (moving) {
        double grow = headroom(free_rate, users);
        for (int i = 0; i < count; i++)
            if (!flows[i].frozen) {
                flows[i].rate_bytes_s += grow;
                for (int k = 0; k < flows[i].route.length; k++)
                    free_rate[flows[i].route.resource[k]] -= grow;
            }
        for (int i = 0; i < count; i++)
            if (!flows[i].frozen && is_full(&flows[i], free_rate)) {
                flows[i].frozen = 1;
                moving--;
                for (int k = 0; k < flows[i].route.length; k++)
                    users[flows[i].route.resource[k]]--;
            }
    }
}

static uint64_t arrival(const struct flow *f)
{
    if (f->left_bytes <= 0)
        return booked_ps;
    return booked_ps + (uint64_t)ceil(f->left_bytes / f->rate_bytes_s * PS_PER_S);
}

static void replan(void)
{
    share();
    next_ps = FLOW_NEVER;
    for (int i = 0; i < count; i++) {
        uint64_t at = arrival(&flows[i]);
        if (at < next_ps)
            next_ps = at;
    }
}

void flow_add(struct op *op, const struct route *route, uint64_t bytes, uint64_t now_ps)
{
    if (count == room) {
        room = room ? 2 * room : 64;
        flows = realloc(flows, (size_t)room * sizeof *flows);
        if (!flows)
            abort();
    }
    book(now_ps);
    flows[count++] = (struct flow){.op = op, .route = *route, .left_bytes = (double)bytes};
    replan();
}

uint64_t flow_next_ps(void)
{
    return next_ps;
}

struct op *flow_take_arrived(uint64_t now_ps)
{
    if (next_ps > now_ps)
        return NULL;
    for (int i = 0; i < count; i++) {
        if (arrival(&flows[i]) != next_ps)
            continue;
        struct op *op = flows[i].op;
        book(next_ps);
        memmove(flows + i, flows + i + 1, (size_t)(--count - i) * sizeof *flows);
        replan();
        return op;
    }
    return NULL;
}
