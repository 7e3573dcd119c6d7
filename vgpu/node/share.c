/* SPDX-License-Identifier: MIT
 * share.c: see share.h. The bottleneck algorithm (Bertsekas and Gallager, Data Networks, 2nd ed.,
 * section 6.5.2): the resource with the least to give to each of its flows fixes their rate; what
 * they take is subtracted everywhere, and the next one follows. A route's own cap is a resource
 * that each flow has for itself.
 *
 * It runs once for each flow that comes or goes, so a round looks only at what it changes. Sets of
 * groups and of resources are sets of bits: which of a resource's groups have no rate yet, and what
 * they all took from, is an `and` or an `or`, where a processor would guess wrong at a test of
 * each.
 */
#include "share.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define BITS 64
#define WORDS(count) (((count) + BITS - 1) / BITS)
#define SHORT 3 /* resources: most routes have no more that can limit them */
#define LANES 4 /* shares that are compared side by side */

/* Of a resource: bytes/s that nobody has yet, and flows whose rate is still open. One subtraction
 * changes both. */
typedef double room_t __attribute__((vector_size(2 * sizeof(double))));
enum { LEFT, FLOWS };

/* A group and the first of its resources; up to SHORT what is too many is nobody's. */
struct user {
    double cap;
    int counted; /* its flows that uses.room has */
    uint16_t resource[SHORT], length;
};

/* Who uses what: as long as the same groups are active this stays. Groups are numbered by their
 * places in `active`, resources in use in their order. */
struct uses {
    int count;                                             /* of resources */
    int group_words, resource_words;                       /* of a set of them */
    room_t room[MAX_RESOURCES + 1];                        /* as no group has a rate */
    uint64_t members[MAX_RESOURCES * WORDS(MAX_GROUPS)];   /* the groups of each resource */
    uint64_t resources[MAX_GROUPS * WORDS(MAX_RESOURCES)]; /* of each group */
    struct user user[MAX_GROUPS];
    uint16_t further[MAX_GROUPS][MAX_ROUTE]; /* resources from the SHORT-th on */
};

static struct uses uses;
static room_t room[MAX_RESOURCES + 1];      /* the last one is nobody's */
static double share[MAX_RESOURCES + LANES]; /* what each can give to each of its flows */
static uint64_t still_open[WORDS(MAX_GROUPS)], taken_from[WORDS(MAX_RESOURCES)];

static void put(uint64_t *set, int number)
{
    set[(unsigned)number / BITS] |= 1ull << (unsigned)number % BITS;
}

/* The numbers from `first` on below `end`. */
static void fill(uint64_t *set, int first, int end)
{
    for (int w = 0; w < WORDS(end); w++) {
        int from = first - w * BITS, to = end - w * BITS;
        uint64_t below_from = from <= 0 ? 0 : from < BITS ? (1ull << from) - 1 : ~0ull;
        set[w] = (to < BITS ? (1ull << to) - 1 : ~0ull) & ~below_from;
    }
}

static uint64_t *members_of(int resource)
{
    return &uses.members[resource * uses.group_words];
}

/* ---- who uses what ---- */

/* Finds the resources in use, and their numbers. */
static void list_resources(const double *capacity, int resources, const struct group *groups,
                           const int *active, int n, int *number)
{
    bool carries[MAX_RESOURCES] = {false};
    for (int i = 0; i < n; i++) {
        const struct route *route = groups[active[i]].route;
        for (int k = 0; k < route->length; k++)
            carries[route->resource[k]] = true;
    }
    uses.count = 0;
    for (int r = 0; r < resources; r++)
        if (carries[r]) {
            uses.room[uses.count] = (room_t){capacity[r], 0};
            number[r] = uses.count++;
        }
}

static void list_route(int at, const struct route *route, const int *number)
{
    struct user *user = &uses.user[at];
    *user = (struct user){.cap = route->cap_bytes_s, .length = (uint16_t)route->length};
    for (int k = 0; k < route->length; k++) {
        int r = number[route->resource[k]];
        put(members_of(r), at);
        put(&uses.resources[at * uses.resource_words], r);
        *(k < SHORT ? &user->resource[k] : &uses.further[at][k - SHORT]) = (uint16_t)r;
    }
    for (int k = route->length; k < SHORT; k++)
        user->resource[k] = MAX_RESOURCES;
}

static void list_uses(const double *capacity, int resources, const struct group *groups,
                      const int *active, int n)
{
    int number[MAX_RESOURCES];
    list_resources(capacity, resources, groups, active, n, number);
    uses.group_words = WORDS(n);
    uses.resource_words = WORDS(uses.count);
    memset(uses.members, 0, (size_t)(uses.count * uses.group_words) * sizeof *uses.members);
    memset(uses.resources, 0, (size_t)(n * uses.resource_words) * sizeof *uses.resources);
    for (int i = 0; i < n; i++)
        list_route(i, groups[active[i]].route, number);
}

/* ---- rates ---- */

/* Changes the room of all resources of a group. */
static inline void take(room_t *of, int at, room_t taken)
{
    const struct user *user = &uses.user[at];
    of[user->resource[0]] -= taken;
    of[user->resource[1]] -= taken;
    of[user->resource[2]] -= taken;
    for (int k = SHORT; k < user->length; k++)
        of[uses.further[at][k - SHORT]] -= taken;
}

/* No rate is fixed yet. */
static void begin(const struct group *groups, const int *active, int n)
{
    for (int i = 0; i < n; i++) {
        int fewer = uses.user[i].counted - groups[active[i]].flows;
        if (fewer != 0)
            take(uses.room, i, (room_t){0, fewer});
        uses.user[i].counted -= fewer;
    }
    for (int r = 0; r < uses.count; r++) {
        room[r] = uses.room[r];
        share[r] = room[r][LEFT] / room[r][FLOWS];
    }
    for (int lane = 0; lane < LANES; lane++)
        share[uses.count + lane] = INFINITY;
    fill(still_open, 0, n);
}

/* What those can give now from which somebody took. Without a flow that is infinite, or not a
 * number (0 / 0): both lose every comparison. */
static void settle(void)
{
    for (int w = 0; w < uses.resource_words; w++) {
        uint64_t set = taken_from[w];
        taken_from[w] = 0;
        for (; set; set &= set - 1) {
            int r = w * BITS + __builtin_ctzll(set);
            double left = room[r][LEFT];
            share[r] = (left > 0 ? left : 0.0) / room[r][FLOWS];
        }
    }
}

static inline double less(double a, double b)
{
    return a < b ? a : b;
}

/* The least that a resource can give to each of its flows; infinite if no flow is left on any. */
static double least_share(void)
{
    double a = INFINITY, b = INFINITY, c = INFINITY, d = INFINITY;
    for (int r = 0; r < uses.count; r += LANES) {
        a = less(share[r], a);
        b = less(share[r + 1], b);
        c = less(share[r + 2], c);
        d = less(share[r + 3], d);
    }
    return less(less(a, b), less(c, d));
}

/* The first resource that can give just that. */
static int first_at(double level)
{
    int r = 0;
    while (share[r] != level)
        r++;
    return r;
}

/* Fixes the rate of those of a set that have none yet, in order: `level`, or the cap. */
static void fix(struct group *groups, const int *active, const uint64_t *set, double level)
{
    for (int w = 0; w < uses.group_words; w++) {
        uint64_t those = set[w] & still_open[w];
        still_open[w] &= ~those;
        for (; those; those &= those - 1) {
            int at = w * BITS + __builtin_ctzll(those);
            const struct user *user = &uses.user[at];
            double flows = user->counted, rate = less(user->cap, level);
            groups[active[at]].rate_bytes_s = rate;
            take(room, at, (room_t){rate * flows, flows});
            for (int v = 0; v < uses.resource_words; v++)
                taken_from[v] |= uses.resources[at * uses.resource_words + v];
        }
    }
}

/* Fixes those from `first` on whose cap is not above `level`. Returns the first that stays. */
static int fix_capped(struct group *groups, const int *active, int n, int first, double level)
{
    uint64_t set[WORDS(MAX_GROUPS)] = {0};
    int end = first;
    while (end < n && uses.user[end].cap <= level)
        end++;
    fill(set, first, end);
    fix(groups, active, set, level);
    return end;
}

void share_rates(const double *capacity_bytes_s, int resource_count, struct group *groups,
                 const int *active, int active_count, bool same)
{
    if (!same)
        list_uses(capacity_bytes_s, resource_count, groups, active, active_count);
    begin(groups, active, active_count);
    for (int capped = 0;;) {
        double level = least_share();
        if (capped < active_count && uses.user[capped].cap <= level)
            capped = fix_capped(groups, active, active_count, capped, level);
        else if (level < INFINITY)
            fix(groups, active, members_of(first_at(level)), level);
        else
            return;
        settle();
    }
}
