/* SPDX-License-Identifier: MIT
 * share.c: see share.h. The bottleneck algorithm (Bertsekas and Gallager, Data Networks, 2nd ed.,
 * section 6.5.2): the resource that can give least to each of its flows fixes their rate; that rate
 * is subtracted from all resources that they use, and the next resource follows. The cap of a route
 * is treated like a resource of each flow's own.
 *
 * It runs whenever a flow starts or arrives, so work is avoided: the groups are divided into
 * connected components (for example, NVLinks are one and PCIe links another), and a component with
 * unchanged numbers of flows keeps its rates. Sets of users and resources are bit sets, because
 * `and` and `or` replace tests that the processor would mispredict.
 */
#include "share.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BITS 64
#define WORDS(count) (((count) + BITS - 1) / BITS)
/* Resources stored inline; few routes have more that can limit them. */
#define SHORT 3
#define LANES 4 /* shares compared in parallel */
#define MAX_NUMBERS (LANES * MAX_RESOURCES)
#define NO_RESOURCE MAX_NUMBERS /* fills up short lists */

/* State of a resource: bytes/s not given to flows yet, and the number of flows without a rate. A
 * vector, so that one subtraction changes both. */
typedef double room_t __attribute__((vector_size(2 * sizeof(double))));
enum { LEFT, FLOWS };

/* A group and its first resources; shorter lists are filled up with NO_RESOURCE. */
struct user {
    double cap;
    int group;
    int counted; /* number of its flows counted in uses.room */
    uint16_t resource[SHORT], length;
};

/* A connected component: its users and resources, from the first to one past the last. The first
 * resource is a multiple of LANES. */
struct part {
    int user, user_end;
    int resource, resource_end;
};

/* Which user uses which resource; valid while the same groups are active. Users and resources are
 * numbered component by component, users of a component in order of their cap. */
struct uses {
    struct part part[MAX_GROUPS]; /* some may be empty */
    int parts;
    int user_words, resource_words;                      /* size of such bit sets in words */
    room_t room[MAX_NUMBERS + 1];                        /* while no user has a rate */
    uint64_t members[MAX_NUMBERS * WORDS(MAX_GROUPS)];   /* the users of each resource */
    uint64_t resources[MAX_GROUPS * WORDS(MAX_NUMBERS)]; /* the resources of each user */
    struct user user[MAX_GROUPS];
    uint16_t further[MAX_GROUPS][MAX_ROUTE]; /* resources beyond the first SHORT */
};

struct sharing {
    struct uses uses;
    room_t room[MAX_NUMBERS + 1];
    double share[MAX_NUMBERS]; /* what each resource can give to each of its flows */
    uint64_t still_open[WORDS(MAX_GROUPS)], taken_from[WORDS(MAX_NUMBERS)];
};

struct sharing *sharing_new(void)
{
    _Static_assert(_Alignof(struct sharing) <= _Alignof(max_align_t), "calloc aligns it");
    return calloc(1, sizeof(struct sharing)); /* most of it is never touched */
}

void sharing_end(struct sharing *s)
{
    free(s);
}

static void put_in_set(uint64_t *set, int number)
{
    set[(unsigned)number / BITS] |= 1ull << (unsigned)number % BITS;
}

/* Sets the bits from `first` to `end` - 1 and clears all others of these words. */
static void fill_set(uint64_t *set, int first, int end)
{
    for (int w = first / BITS; w < WORDS(end); w++) {
        int from = first - w * BITS, to = end - w * BITS;
        set[w] = (to < BITS ? (1ull << to) - 1 : ~0ull) & (from > 0 ? ~0ull << from : ~0ull);
    }
}

static uint64_t *members_of(struct sharing *s, int resource)
{
    return &s->uses.members[resource * s->uses.user_words];
}

/* ---- users and resources ---- */

/* Stores the component of each of the active groups and of the node's resources (-1: unused), and
 * the number of users and resources of each component (in user_end and resource_end for now). */
static void find_parts(struct sharing *s, const struct group *groups, const int *active, int n,
                       int *part)
{
    s->uses.parts = 0;
    for (int i = 0; i < n; i++) {
        const struct group *group = &groups[active[i]];
        while (s->uses.parts <= group->part)
            s->uses.part[s->uses.parts++] = (struct part){0};
        s->uses.part[group->part].user_end++;
        for (int k = 0; k < group->route->length; k++) {
            int r = group->route->resource[k];
            s->uses.part[group->part].resource_end += part[r] < 0;
            part[r] = group->part;
        }
    }
}

/* Assigns ranges of numbers to the components, and clears their bit sets. */
static void place_parts(struct sharing *s)
{
    int user = 0, resource = 0;
    for (int p = 0; p < s->uses.parts; p++) {
        struct part *part = &s->uses.part[p];
        int users = part->user_end, resources = part->resource_end;
        *part = (struct part){user, user, resource, resource};
        user += users;
        resource += (resources + LANES - 1) / LANES * LANES;
    }
    s->uses.user_words = WORDS(user);
    s->uses.resource_words = WORDS(resource);
    memset(s->uses.members, 0, (size_t)(resource * s->uses.user_words) * sizeof *s->uses.members);
    memset(s->uses.resources, 0,
           (size_t)(user * s->uses.resource_words) * sizeof *s->uses.resources);
    for (int r = 0; r < resource; r++)
        s->share[r] = INFINITY;
}

static void list_user(struct sharing *s, int group, const struct route *route, struct part *part,
                      const int *number)
{
    int at = part->user_end++;
    struct user *user = &s->uses.user[at];
    *user = (struct user){route->cap_bytes_s, group, .length = (uint16_t)route->length};
    for (int k = 0; k < route->length; k++) {
        int r = number[route->resource[k]];
        put_in_set(members_of(s, r), at);
        put_in_set(&s->uses.resources[at * s->uses.resource_words], r);
        *(k < SHORT ? &user->resource[k] : &s->uses.further[at][k - SHORT]) = (uint16_t)r;
    }
    for (int k = route->length; k < SHORT; k++)
        user->resource[k] = NO_RESOURCE;
}

static void list_uses(struct sharing *s, const double *capacity, int resources,
                      const struct group *groups, const int *active, int n)
{
    int part[MAX_RESOURCES], number[MAX_RESOURCES];
    memset(part, -1, (size_t)resources * sizeof *part);
    find_parts(s, groups, active, n, part);
    place_parts(s);
    for (int r = 0; r < resources; r++)
        if (part[r] >= 0) {
            number[r] = s->uses.part[part[r]].resource_end++;
            s->uses.room[number[r]] = (room_t){capacity[r], 0};
        }
    for (int i = 0; i < n; i++) {
        const struct group *group = &groups[active[i]];
        list_user(s, active[i], group->route, &s->uses.part[group->part], number);
    }
}

/* ---- rates ---- */

/* Subtracts from all resources of a user. */
static inline void subtract_room(struct sharing *s, room_t *of, int at, room_t taken)
{
    const struct user *user = &s->uses.user[at];
    of[user->resource[0]] -= taken;
    of[user->resource[1]] -= taken;
    of[user->resource[2]] -= taken;
    for (int k = SHORT; k < user->length; k++)
        of[s->uses.further[at][k - SHORT]] -= taken;
}

/* Updates the counts of flows. True if the flows of the component have changed. */
static bool count_flows(struct sharing *s, const struct part *part, const struct group *groups)
{
    bool changed = false;
    for (int at = part->user; at < part->user_end; at++) {
        struct user *user = &s->uses.user[at];
        int fewer = user->counted - groups[user->group].flows;
        if (fewer == 0)
            continue;
        subtract_room(s, s->uses.room, at, (room_t){0, fewer});
        user->counted -= fewer;
        changed = true;
    }
    return changed;
}

/* Resets the component: no rate is fixed. */
static void begin_part(struct sharing *s, const struct part *part)
{
    for (int r = part->resource; r < part->resource_end; r++) {
        s->room[r] = s->uses.room[r];
        s->share[r] = s->room[r][LEFT] / s->room[r][FLOWS];
    }
    fill_set(s->still_open, part->user, part->user_end);
}

/* Recomputes the shares of the resources from which a user has taken. Without flows the result is
 * infinity or NaN (0 / 0), which loses every comparison. */
static void update_shares(struct sharing *s, const struct part *part)
{
    for (int w = part->resource / BITS; w < WORDS(part->resource_end); w++) {
        uint64_t set = s->taken_from[w];
        s->taken_from[w] = 0;
        for (; set; set &= set - 1) {
            int r = w * BITS + __builtin_ctzll(set);
            double left = s->room[r][LEFT];
            s->share[r] = (left > 0 ? left : 0.0) / s->room[r][FLOWS];
        }
    }
}

static inline double smaller_of(double a, double b)
{
    return a < b ? a : b;
}

/* The least share of the component's resources; infinite if no flow is left. */
static double least_share(struct sharing *s, const struct part *part)
{
    double a = INFINITY, b = INFINITY, c = INFINITY, d = INFINITY;
    for (int r = part->resource; r < part->resource_end; r += LANES) {
        a = smaller_of(s->share[r], a);
        b = smaller_of(s->share[r + 1], b);
        c = smaller_of(s->share[r + 2], c);
        d = smaller_of(s->share[r + 3], d);
    }
    return smaller_of(smaller_of(a, b), smaller_of(c, d));
}

/* The first resource with this share. */
static int first_resource_at(struct sharing *s, const struct part *part, double level)
{
    int r = part->resource;
    while (s->share[r] != level)
        r++;
    return r;
}

/* Fixes the rates of the users in a set that have none yet, in order: `level`, or the user's cap.
 */
static void fix_rates(struct sharing *s, const struct part *part, struct group *groups,
                      const uint64_t *set, double level)
{
    for (int w = part->user / BITS; w < WORDS(part->user_end); w++) {
        uint64_t those = set[w] & s->still_open[w];
        s->still_open[w] &= ~those;
        for (; those; those &= those - 1) {
            int at = w * BITS + __builtin_ctzll(those);
            const struct user *user = &s->uses.user[at];
            double flows = user->counted, rate = smaller_of(user->cap, level);
            groups[user->group].rate_bytes_s = rate;
            subtract_room(s, s->room, at, (room_t){rate * flows, flows});
            for (int v = 0; v < s->uses.resource_words; v++)
                s->taken_from[v] |= s->uses.resources[at * s->uses.resource_words + v];
        }
    }
}

/* Fixes the rates of users from `first` on whose cap is at most `level`. Returns the first user
 * left. */
static int fix_capped(struct sharing *s, const struct part *part, struct group *groups, int first,
                      double level)
{
    uint64_t set[WORDS(MAX_GROUPS)];
    int end = first;
    while (end < part->user_end && s->uses.user[end].cap <= level)
        end++;
    fill_set(set, part->user, end);
    memset(set + WORDS(end), 0, (size_t)(WORDS(part->user_end) - WORDS(end)) * sizeof *set);
    fix_rates(s, part, groups, set, level);
    return end;
}

static void share_part(struct sharing *s, const struct part *part, struct group *groups)
{
    begin_part(s, part);
    for (int capped = part->user;;) {
        double level = least_share(s, part);
        if (capped < part->user_end && s->uses.user[capped].cap <= level)
            capped = fix_capped(s, part, groups, capped, level);
        else if (level < INFINITY)
            fix_rates(s, part, groups, members_of(s, first_resource_at(s, part, level)), level);
        else
            return;
        update_shares(s, part);
    }
}

void share_rates(struct sharing *s, const double *capacity_bytes_s, int resource_count,
                 struct group *groups, const int *active, int active_count, bool same)
{
    if (!same)
        list_uses(s, capacity_bytes_s, resource_count, groups, active, active_count);
    for (int p = 0; p < s->uses.parts; p++)
        if (count_flows(s, &s->uses.part[p], groups))
            share_part(s, &s->uses.part[p], groups);
}
