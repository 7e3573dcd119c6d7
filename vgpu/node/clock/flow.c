/* SPDX-License-Identifier: MIT
 * flow.c: see flow.h. All flows on a route have the same rate, so they are kept as a group with one
 * number: the bytes that each of its flows has received since the group began. A flow arrives when
 * this number reaches its value at the flow's start plus the flow's size. So a group is a heap of
 * these values, its flows need not be visited, and the cost of a flow does not depend on the number
 * of flows.
 *
 * Rates change only when flows start or arrive; they are recomputed then (share.c), once for all
 * changes in the same picosecond. Loops run in a fixed order, and the compiler must not fuse or
 * reorder the arithmetic, so results are the same on every machine.
 */
#include "flow.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "resource_pruning.h"
#include "route_components.h"
#include "reserve.h"
#include "share.h"

#define PS_PER_S 1e12
/* A power of two, well above the number of routes that a node can use. */
#define TABLE 1024

/* A flow of a group, with the value of `received` at which it arrives. */
struct waiting {
    double until_bytes;
    uint64_t order;
    struct op *op;
};

struct lane {
    struct waiting *heap;
    int room;
    int next; /* next group in the same hash bucket; -1: none */
};

/* The values of a group that every step reads, stored together. */
struct front {
    /* Bytes that each flow of the group has received since the group was last empty. */
    double received;
    double until; /* until_bytes of the flow that arrives first */
    /* Remaining bytes of that flow that count as a rounding error. */
    double forgiven;
    uint64_t order; /* order of that flow */
};

struct flows {
    const struct topology *topology;
    struct sharing *sharing;
    struct route routes[MAX_GROUPS]; /* all routes ever used */
    struct pruning narrowing;
    struct route narrow[MAX_GROUPS]; /* the same without resources that never limit them */
    struct group groups[MAX_GROUPS]; /* by route; refer to `narrow` */
    struct lane lanes[MAX_GROUPS];   /* by route */
    struct front fronts[MAX_GROUPS]; /* by route */
    int group_count;
    int table[TABLE];
    /* Indices of groups with flows, ordered by cap. */
    int active[MAX_GROUPS], active_count;
    uint64_t booked_ps; /* time up to which all `received` are computed */
    uint64_t next_ps, added;
    void (*watcher)(void *self, uint64_t at_ps, const double *bytes_s);
    void *watcher_self;
    bool stale; /* flows have changed since rates and next_ps were computed */
    /* A flow may have arrived that flows_take_arrived has not returned yet. */
    bool may_be_due;
    bool as_before; /* the active groups have not changed since the last refresh */
};

struct flows *flows_new(const struct topology *topology)
{
    struct flows *f = calloc(1, sizeof *f);
    struct sharing *sharing = f ? sharing_new() : NULL;
    if (!sharing) {
        free(f);
        return NULL;
    }
    f->topology = topology;
    f->sharing = sharing;
    f->next_ps = FLOW_NEVER;
    for (int i = 0; i < TABLE; i++)
        f->table[i] = -1;
    return f;
}

void flows_end(struct flows *f)
{
    if (!f)
        return;
    for (int g = 0; g < f->group_count; g++)
        reserve_give(f->lanes[g].heap);
    sharing_end(f->sharing);
    free(f);
}

/* ---- groups ---- */

static unsigned hash_route(const struct route *route)
{
    uint64_t bits, h = 1469598103934665603ull;
    memcpy(&bits, &route->cap_bytes_s, sizeof bits);
    h = (h ^ bits) * 1099511628211ull;
    for (int k = 0; k < route->length; k++)
        h = (h ^ (unsigned long long)route->resource[k]) * 1099511628211ull;
    return (unsigned)(h >> 32) & (TABLE - 1);
}

static bool same_route(const struct route *a, const struct route *b)
{
    return a->cap_bytes_s == b->cap_bytes_s && a->length == b->length &&
           memcmp(a->resource, b->resource, (size_t)a->length * sizeof a->resource[0]) == 0;
}

/* Adds a new route, the last one, which may change the pruning of all others. */
static void add_route(struct flows *f, const struct route *route)
{
    int part[MAX_GROUPS];
    pruning_add(&f->narrowing, route);
    for (int g = 0; g <= f->group_count; g++)
        f->narrow[g] = prune_route(&f->narrowing, f->topology->rate_bytes_s, &f->routes[g]);
    route_components(f->narrow, f->group_count + 1, part);
    for (int g = 0; g <= f->group_count; g++)
        f->groups[g].part = part[g];
}

static int group_of(struct flows *f, const struct route *route)
{
    unsigned place = hash_route(route);
    for (int g = f->table[place]; g >= 0; g = f->lanes[g].next)
        if (same_route(&f->routes[g], route))
            return g;
    if (f->group_count == MAX_GROUPS)
        abort(); /* no node has so many routes, see share.h */
    f->routes[f->group_count] = *route;
    f->groups[f->group_count] = (struct group){.route = &f->narrow[f->group_count]};
    f->lanes[f->group_count] = (struct lane){.next = f->table[place]};
    f->table[place] = f->group_count;
    add_route(f, route);
    return f->group_count++;
}

/* The order of active groups. It must not depend on the order in which routes were first used:
 * rounding depends on it, and a node must give the same times whatever programs it has served
 * before. */
static bool group_is_before(struct flows *f, int a, int b)
{
    const struct route *left = &f->routes[a], *right = &f->routes[b];
    if (left->cap_bytes_s != right->cap_bytes_s)
        return left->cap_bytes_s < right->cap_bytes_s;
    if (left->length != right->length)
        return left->length < right->length;
    int k = 0;
    while (k < left->length - 1 && left->resource[k] == right->resource[k])
        k++;
    return left->resource[k] < right->resource[k];
}

static void activate_group(struct flows *f, int g)
{
    int at = f->active_count++;
    for (; at > 0 && group_is_before(f, g, f->active[at - 1]); at--)
        f->active[at] = f->active[at - 1];
    f->active[at] = g;
    f->fronts[g].received = 0;
    f->as_before = false;
}

static void retire_group(struct flows *f, int g)
{
    int at = 0;
    while (f->active[at] != g)
        at++;
    memmove(f->active + at, f->active + at + 1,
            (size_t)(--f->active_count - at) * sizeof *f->active);
    f->as_before = false;
}

/* ---- a group's heap ---- */

static bool is_sooner(const struct waiting *a, const struct waiting *b)
{
    return a->until_bytes < b->until_bytes ||
           (a->until_bytes == b->until_bytes && a->order < b->order);
}

static void update_front(struct flows *f, int g)
{
    const struct waiting *first = &f->lanes[g].heap[0];
    f->fronts[g].until = first->until_bytes;
    f->fronts[g].forgiven = 1e-6 + 1e-13 * first->until_bytes;
    f->fronts[g].order = first->order;
}

static void push_flow(struct flows *f, int g, struct waiting flow)
{
    struct lane *lane = &f->lanes[g];
    if (f->groups[g].flows == lane->room) {
        size_t had = (size_t)lane->room * sizeof *lane->heap;
        lane->room = lane->room ? 2 * lane->room : 8;
        lane->heap = reserve_grow(lane->heap, had, (size_t)lane->room * sizeof *lane->heap);
    }
    int i = f->groups[g].flows++;
    for (; i > 0 && is_sooner(&flow, &lane->heap[(i - 1) / 2]); i = (i - 1) / 2)
        lane->heap[i] = lane->heap[(i - 1) / 2];
    lane->heap[i] = flow;
    if (i == 0)
        update_front(f, g);
}

static struct op *pop_flow(struct flows *f, int g)
{
    struct waiting *heap = f->lanes[g].heap, last = heap[--f->groups[g].flows];
    struct op *op = heap[0].op;
    int count = f->groups[g].flows, i = 0;
    for (;;) {
        int child = 2 * i + 1;
        if (child >= count)
            break;
        if (child + 1 < count && is_sooner(&heap[child + 1], &heap[child]))
            child++;
        if (!is_sooner(&heap[child], &last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    update_front(f, g);
    return op;
}

/* ---- time ---- */

/* True if the group's first flow has arrived. */
static bool is_due(const struct front *front)
{
    return front->until - front->received <= front->forgiven;
}

/* The time when the next flow of any group arrives. */
static uint64_t next_arrival(struct flows *f)
{
    double least_s = INFINITY;
    for (int i = 0; i < f->active_count; i++) {
        const struct front *front = &f->fronts[f->active[i]];
        double left = front->until - front->received;
        double seconds = is_due(front) ? 0 : left / f->groups[f->active[i]].rate_bytes_s;
        least_s = seconds < least_s ? seconds : least_s;
    }
    if (f->active_count == 0)
        return FLOW_NEVER;
    double ps = ceil(least_s * PS_PER_S), most = (double)(FLOW_END - f->booked_ps);
    return ps < most ? f->booked_ps + (uint64_t)ps : FLOW_END;
}

static void book_bytes(struct flows *f, uint64_t now_ps)
{
    double seconds = (double)(now_ps - f->booked_ps) / PS_PER_S;
    for (int i = 0; i < f->active_count; i++)
        f->fronts[f->active[i]].received += f->groups[f->active[i]].rate_bytes_s * seconds;
    f->booked_ps = now_ps;
    f->may_be_due = true;
}

/* Of the groups whose first flow has arrived, the one whose flow was added first; -1: none. *more:
 * several have. */
static int first_due_group(struct flows *f, bool *more)
{
    int first = -1, count = 0;
    for (int i = 0; i < f->active_count; i++) {
        int g = f->active[i];
        if (!is_due(&f->fronts[g]))
            continue;
        count++;
        if (first < 0 || f->fronts[g].order < f->fronts[first].order)
            first = g;
    }
    *more = count > 1;
    return first;
}

/* The group whose first flow arrives next. Used when no flow counts as arrived, because FLOW_END is
 * reached or a rounding error has left a byte. */
static int nearest_group(struct flows *f)
{
    int first = f->active[0];
    for (int i = 1; i < f->active_count; i++) {
        const struct front *front = &f->fronts[f->active[i]], *best = &f->fronts[first];
        if (front->until - front->received < best->until - best->received)
            first = f->active[i];
    }
    return first;
}

/* True if a flow has arrived that has not been taken. */
static bool any_due(struct flows *f)
{
    bool more;
    f->may_be_due = f->may_be_due && first_due_group(f, &more) >= 0;
    return f->may_be_due;
}

void flows_watch(struct flows *f, void (*watch)(void *self, uint64_t at_ps, const double *bytes_s),
                 void *self)
{
    f->watcher = watch;
    f->watcher_self = self;
}

static void report_rates(struct flows *f)
{
    double carried[MAX_RESOURCES] = {0};
    for (int i = 0; i < f->active_count; i++) {
        const struct group *group = &f->groups[f->active[i]];
        const struct route *route = &f->routes[f->active[i]];
        for (int k = 0; k < route->length; k++)
            carried[route->resource[k]] += group->rate_bytes_s * group->flows;
    }
    f->watcher(f->watcher_self, f->booked_ps, carried);
}

static void refresh_rates(struct flows *f)
{
    share_rates(f->sharing, f->topology->rate_bytes_s, f->topology->resource_count, f->groups,
                f->active, f->active_count, f->as_before);
    f->next_ps = next_arrival(f);
    f->stale = false;
    f->as_before = true;
    if (f->watcher)
        report_rates(f);
}

void flows_add(struct flows *f, struct op *op, const struct route *route, uint64_t bytes,
               uint64_t now_ps)
{
    if (now_ps > f->booked_ps) {
        if (f->stale)
            refresh_rates(f);
        book_bytes(f, now_ps);
    }
    int g = group_of(f, route);
    if (f->groups[g].flows == 0)
        activate_group(f, g);
    push_flow(f, g, (struct waiting){f->fronts[g].received + (double)bytes, f->added++, op});
    f->may_be_due |= is_due(&f->fronts[g]);
    f->stale = true;
}

void flows_restart(struct flows *f)
{
    if (f->stale)
        refresh_rates(f); /* observers are notified that the links are idle */
    f->booked_ps = 0;
}

uint64_t flows_next_ps(struct flows *f)
{
    if (f->stale && any_due(f)) /* those first: new rates apply only after them */
        return f->booked_ps;
    if (f->stale)
        refresh_rates(f);
    return f->next_ps;
}

struct op *flows_take_arrived(struct flows *f, uint64_t now_ps)
{
    uint64_t at = flows_next_ps(f);
    if (at > now_ps || f->active_count == 0)
        return NULL;
    if (at > f->booked_ps)
        book_bytes(f, at);
    bool more;
    int g = first_due_group(f, &more);
    g = g < 0 ? nearest_group(f) : g;
    struct op *op = pop_flow(f, g);
    if (f->groups[g].flows == 0)
        retire_group(f, g);
    f->may_be_due = more || (f->groups[g].flows > 0 && is_due(&f->fronts[g]));
    f->stale = true;
    return op;
}
