/* SPDX-License-Identifier: MIT
 * flow.c: see flow.h. Flows on the same route always have the same rate, so they are kept as one
 * group: what each of its flows has received since the group began is one number, and a flow
 * has arrived when that number reaches what it was when the flow came plus the flow's size. A group
 * therefore needs a heap and no visit to each flow, and a flow's cost does not grow with how many
 * there are.
 *
 * Rates change only when flows come or go, and are found anew then (share.c), once for all that
 * come and go in the same picosecond. Loops run in a fixed order and the compiler may not fuse or
 * reorder the arithmetic, so results are the same everywhere.
 */
#include "flow.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "narrow.h"
#include "parts.h"
#include "share.h"

#define PS_PER_S 1e12
#define TABLE 1024 /* a power of two, well above the routes a node can have in use */

/* A flow of a group, by what the group's flows have received when it arrives. */
struct waiting {
    double until_bytes;
    uint64_t order;
    struct op *op;
};

struct lane {
    struct waiting *heap;
    int room;
    int next; /* group in the same place of the table, or -1 */
};

/* What every step asks of every group, close together. */
struct front {
    double received; /* bytes that each flow of the group got since the group was last empty */
    double until;    /* of the first of its flows to arrive */
    double forgiven; /* of that: bytes that rounding may have left of it */
    uint64_t order;  /* of that */
};

static const struct topology *topology;
static struct route routes[MAX_GROUPS]; /* all that were ever used */
static struct route narrow[MAX_GROUPS]; /* beside them: without what never limits them */
static struct group groups[MAX_GROUPS]; /* beside them, with narrow routes */
static struct lane lanes[MAX_GROUPS];   /* beside them */
static struct front fronts[MAX_GROUPS]; /* beside them */
static int group_count;
static int table[TABLE];
static int active[MAX_GROUPS], active_count; /* groups that have flows, the lowest cap first */
static uint64_t booked_ps;                   /* all `received` are as of then */
static uint64_t next_ps = FLOW_NEVER, added;
static void (*watcher)(uint64_t at_ps, const double *bytes_s);
static bool stale;      /* rates and next_ps are not yet as the flows are */
static bool may_be_due; /* a flow may have arrived that nobody has taken */
static bool as_before;  /* the active groups are those of the last refresh */

void flow_start(const struct topology *t)
{
    topology = t;
    for (int i = 0; i < TABLE; i++)
        table[i] = -1;
}

/* ---- groups ---- */

static unsigned hash(const struct route *route)
{
    uint64_t bits, h = 1469598103934665603ull;
    memcpy(&bits, &route->cap_bytes_s, sizeof bits);
    h = (h ^ bits) * 1099511628211ull;
    for (int k = 0; k < route->length; k++)
        h = (h ^ (uint64_t)route->resource[k]) * 1099511628211ull;
    return (unsigned)(h >> 32) & (TABLE - 1);
}

static bool same(const struct route *a, const struct route *b)
{
    return a->cap_bytes_s == b->cap_bytes_s && a->length == b->length &&
           memcmp(a->resource, b->resource, (size_t)a->length * sizeof a->resource[0]) == 0;
}

/* A new route, the last one: it may matter to others. */
static void learn_route(const struct route *route)
{
    int part[MAX_GROUPS];
    narrow_add(route);
    for (int g = 0; g <= group_count; g++)
        narrow[g] = narrow_route(topology->rate_bytes_s, &routes[g]);
    parts_of_routes(narrow, group_count + 1, part);
    for (int g = 0; g <= group_count; g++)
        groups[g].part = part[g];
}

static int group_of(const struct route *route)
{
    unsigned place = hash(route);
    for (int g = table[place]; g >= 0; g = lanes[g].next)
        if (same(&routes[g], route))
            return g;
    if (group_count == MAX_GROUPS)
        abort(); /* see share.h: no node has so many routes */
    routes[group_count] = *route;
    groups[group_count] = (struct group){.route = &narrow[group_count]};
    lanes[group_count] = (struct lane){.next = table[place]};
    table[place] = group_count;
    learn_route(route);
    return group_count++;
}

/* Is group `a` before `b` among the active? Never a matter of which route was used first: rounding
 * follows this order, and a node that has served another program must give the same times. */
static bool before(int a, int b)
{
    const struct route *left = &routes[a], *right = &routes[b];
    if (left->cap_bytes_s != right->cap_bytes_s)
        return left->cap_bytes_s < right->cap_bytes_s;
    if (left->length != right->length)
        return left->length < right->length;
    int k = 0;
    while (k < left->length - 1 && left->resource[k] == right->resource[k])
        k++;
    return left->resource[k] < right->resource[k];
}

static void activate(int g)
{
    int at = active_count++;
    for (; at > 0 && before(g, active[at - 1]); at--)
        active[at] = active[at - 1];
    active[at] = g;
    fronts[g].received = 0;
    as_before = false;
}

static void retire(int g)
{
    int at = 0;
    while (active[at] != g)
        at++;
    memmove(active + at, active + at + 1, (size_t)(--active_count - at) * sizeof *active);
    as_before = false;
}

/* ---- a group's heap ---- */

static bool sooner(const struct waiting *a, const struct waiting *b)
{
    return a->until_bytes < b->until_bytes ||
           (a->until_bytes == b->until_bytes && a->order < b->order);
}

static void tell_front(int g)
{
    const struct waiting *first = &lanes[g].heap[0];
    fronts[g].until = first->until_bytes;
    fronts[g].forgiven = 1e-6 + 1e-13 * first->until_bytes;
    fronts[g].order = first->order;
}

static void push(int g, struct waiting flow)
{
    struct lane *lane = &lanes[g];
    if (groups[g].flows == lane->room) {
        lane->room = lane->room ? 2 * lane->room : 8;
        lane->heap = realloc(lane->heap, (size_t)lane->room * sizeof *lane->heap);
        if (!lane->heap)
            abort();
    }
    int i = groups[g].flows++;
    for (; i > 0 && sooner(&flow, &lane->heap[(i - 1) / 2]); i = (i - 1) / 2)
        lane->heap[i] = lane->heap[(i - 1) / 2];
    lane->heap[i] = flow;
    if (i == 0)
        tell_front(g);
}

static struct op *pop(int g)
{
    struct waiting *heap = lanes[g].heap, last = heap[--groups[g].flows];
    struct op *op = heap[0].op;
    int count = groups[g].flows, i = 0;
    for (;;) {
        int child = 2 * i + 1;
        if (child >= count)
            break;
        if (child + 1 < count && sooner(&heap[child + 1], &heap[child]))
            child++;
        if (!sooner(&heap[child], &last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    tell_front(g);
    return op;
}

/* ---- time ---- */

/* Has the group's first flow arrived? */
static bool is_due(const struct front *front)
{
    return front->until - front->received <= front->forgiven;
}

/* When the first flow of all arrives. */
static uint64_t next_arrival(void)
{
    double least_s = INFINITY;
    for (int i = 0; i < active_count; i++) {
        const struct front *front = &fronts[active[i]];
        double left = front->until - front->received;
        double seconds = is_due(front) ? 0 : left / groups[active[i]].rate_bytes_s;
        least_s = seconds < least_s ? seconds : least_s;
    }
    return active_count ? booked_ps + (uint64_t)ceil(least_s * PS_PER_S) : FLOW_NEVER;
}

static void book(uint64_t now_ps)
{
    double seconds = (double)(now_ps - booked_ps) / PS_PER_S;
    for (int i = 0; i < active_count; i++)
        fronts[active[i]].received += groups[active[i]].rate_bytes_s * seconds;
    booked_ps = now_ps;
    may_be_due = true;
}

/* Of the groups whose first flow has arrived, the one whose flow came first; -1: none. Tells
 * whether more than one has. */
static int first_due(bool *more)
{
    int first = -1, count = 0;
    for (int i = 0; i < active_count; i++) {
        int g = active[i];
        if (!is_due(&fronts[g]))
            continue;
        count++;
        if (first < 0 || fronts[g].order < fronts[first].order)
            first = g;
    }
    *more = count > 1;
    return first;
}

/* Has a flow arrived that nobody has taken? */
static bool any_due(void)
{
    bool more;
    may_be_due = may_be_due && first_due(&more) >= 0;
    return may_be_due;
}

void flow_watch(void (*watch)(uint64_t at_ps, const double *bytes_s))
{
    watcher = watch;
}

static void tell_rates(void)
{
    double carried[MAX_RESOURCES] = {0};
    for (int i = 0; i < active_count; i++) {
        const struct group *group = &groups[active[i]];
        const struct route *route = &routes[active[i]];
        for (int k = 0; k < route->length; k++)
            carried[route->resource[k]] += group->rate_bytes_s * group->flows;
    }
    watcher(booked_ps, carried);
}

static void refresh(void)
{
    share_rates(topology->rate_bytes_s, topology->resource_count, groups, active, active_count,
                as_before);
    next_ps = next_arrival();
    stale = false;
    as_before = true;
    if (watcher)
        tell_rates();
}

void flow_add(struct op *op, const struct route *route, uint64_t bytes, uint64_t now_ps)
{
    if (now_ps > booked_ps) {
        if (stale)
            refresh();
        book(now_ps);
    }
    int g = group_of(route);
    if (groups[g].flows == 0)
        activate(g);
    push(g, (struct waiting){fronts[g].received + (double)bytes, added++, op});
    may_be_due |= is_due(&fronts[g]);
    stale = true;
}

void flow_restart(void)
{
    if (stale)
        refresh(); /* whoever watches learns that the links are idle */
    booked_ps = 0;
}

uint64_t flow_next_ps(void)
{
    if (stale && any_due()) /* those go first, new rates would come too early */
        return booked_ps;
    if (stale)
        refresh();
    return next_ps;
}

struct op *flow_take_arrived(uint64_t now_ps)
{
    uint64_t at = flow_next_ps();
    if (at > now_ps)
        return NULL;
    if (at > booked_ps)
        book(at);
    bool more;
    int g = first_due(&more);
    struct op *op = pop(g);
    if (groups[g].flows == 0)
        retire(g);
    may_be_due = more || (groups[g].flows > 0 && is_due(&fronts[g]));
    stale = true;
    return op;
}
