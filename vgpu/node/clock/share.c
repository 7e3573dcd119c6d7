/* SPDX-License-Identifier: MIT
 * share.c: see share.h. The bottleneck algorithm (Bertsekas and Gallager, Data Networks, 2nd ed.,
 * section 6.5.2): the resource with the least to give to each of its flows fixes their rate; what
 * they take is subtracted everywhere, and the next one follows. A route's own cap is a resource
 * that each flow has for itself.
 *
 * It runs once for each flow that comes or goes, and only where that matters: groups fall into
 * parts that share nothing with each other (the NVLinks are one, PCIe another), and a part whose
 * flows are as many as before keeps its rates. Sets of users and of resources are sets of bits:
 * which of a resource's users have no rate yet, and what they all took from, is an `and` or an
 * `or`, where a processor would guess wrong at a test of each.
 */
#include "share.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BITS 64
#define WORDS(count) (((count) + BITS - 1) / BITS)
#define SHORT 3 /* resources: most routes have no more that can limit them */
#define LANES 4 /* shares that are compared side by side */
#define MAX_NUMBERS (LANES * MAX_RESOURCES)
#define NO_RESOURCE MAX_NUMBERS /* fills up short lists */

/* Of a resource: bytes/s that no flow has been given yet, and flows whose rate is still open. One
 * subtraction changes both. */
typedef double room_t __attribute__((vector_size(2 * sizeof(double))));
enum { LEFT, FLOWS };

/* A group and the first of its resources; a shorter list is filled up with NO_RESOURCE. */
struct user {
    double cap;
    int group;
    int counted; /* its flows that uses.room has */
    uint16_t resource[SHORT], length;
};

/* Users that share resources, directly or through others, and these resources: the first, and the
 * one behind the last. Resources begin at a multiple of LANES. */
struct part {
    int user, user_end;
    int resource, resource_end;
};

/* Who uses what: as long as the same groups are active this stays. Users and resources are numbered
 * part by part, the users of a part by their cap. */
struct uses {
    struct part part[MAX_GROUPS]; /* some may be empty */
    int parts;
    int user_words, resource_words;                      /* of a set of them */
    room_t room[MAX_NUMBERS + 1];                        /* as no user has a rate */
    uint64_t members[MAX_NUMBERS * WORDS(MAX_GROUPS)];   /* the users of each resource */
    uint64_t resources[MAX_GROUPS * WORDS(MAX_NUMBERS)]; /* of each user */
    struct user user[MAX_GROUPS];
    uint16_t further[MAX_GROUPS][MAX_ROUTE]; /* resources from the SHORT-th on */
};

struct sharing {
    struct uses uses;
    room_t room[MAX_NUMBERS + 1];
    double share[MAX_NUMBERS]; /* what each can give to each of its flows */
    uint64_t still_open[WORDS(MAX_GROUPS)], taken_from[WORDS(MAX_NUMBERS)];
};

struct sharing *sharing_new(void)
{
    struct sharing *s = aligned_alloc(_Alignof(struct sharing), sizeof *s);
    if (s)
        memset(s, 0, sizeof *s);
    return s;
}

void sharing_end(struct sharing *s)
{
    free(s);
}

static void put_in_set(uint64_t *set, int number)
{
    set[(unsigned)number / BITS] |= 1ull << (unsigned)number % BITS;
}

/* The numbers from `first` on below `end`, and no others of these words. */
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

/* ---- who uses what ---- */

/* The parts of the active groups and of the node's resources (-1: no group uses it); how many users
 * and resources a part has, for now behind its last ones. */
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

/* Gives the parts their places, none of which is taken yet, and clears the sets for them. */
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

/* Changes the room of all resources of a user. */
static inline void take_room(struct sharing *s, room_t *of, int at, room_t taken)
{
    const struct user *user = &s->uses.user[at];
    of[user->resource[0]] -= taken;
    of[user->resource[1]] -= taken;
    of[user->resource[2]] -= taken;
    for (int k = SHORT; k < user->length; k++)
        of[s->uses.further[at][k - SHORT]] -= taken;
}

/* Are the flows of a part no longer those that were counted? */
static bool count_flows(struct sharing *s, const struct part *part, const struct group *groups)
{
    bool changed = false;
    for (int at = part->user; at < part->user_end; at++) {
        struct user *user = &s->uses.user[at];
        int fewer = user->counted - groups[user->group].flows;
        if (fewer == 0)
            continue;
        take_room(s, s->uses.room, at, (room_t){0, fewer});
        user->counted -= fewer;
        changed = true;
    }
    return changed;
}

/* No rate is fixed yet. */
static void begin_part(struct sharing *s, const struct part *part)
{
    for (int r = part->resource; r < part->resource_end; r++) {
        s->room[r] = s->uses.room[r];
        s->share[r] = s->room[r][LEFT] / s->room[r][FLOWS];
    }
    fill_set(s->still_open, part->user, part->user_end);
}

/* What those can give now from which somebody took. Without a flow that is infinite, or not a
 * number (0 / 0): both lose every comparison. */
static void settle_part(struct sharing *s, const struct part *part)
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

static inline double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* The least that a resource can give to each of its flows; infinite if no flow is left on any. */
static double least_share(struct sharing *s, const struct part *part)
{
    double a = INFINITY, b = INFINITY, c = INFINITY, d = INFINITY;
    for (int r = part->resource; r < part->resource_end; r += LANES) {
        a = lesser(s->share[r], a);
        b = lesser(s->share[r + 1], b);
        c = lesser(s->share[r + 2], c);
        d = lesser(s->share[r + 3], d);
    }
    return lesser(lesser(a, b), lesser(c, d));
}

/* The first resource that can give just that. */
static int first_resource_at(struct sharing *s, const struct part *part, double level)
{
    int r = part->resource;
    while (s->share[r] != level)
        r++;
    return r;
}

/* Fixes the rate of those of a set that have none yet, in order: `level`, or the cap. */
static void fix_rates(struct sharing *s, const struct part *part, struct group *groups,
                      const uint64_t *set, double level)
{
    for (int w = part->user / BITS; w < WORDS(part->user_end); w++) {
        uint64_t those = set[w] & s->still_open[w];
        s->still_open[w] &= ~those;
        for (; those; those &= those - 1) {
            int at = w * BITS + __builtin_ctzll(those);
            const struct user *user = &s->uses.user[at];
            double flows = user->counted, rate = lesser(user->cap, level);
            groups[user->group].rate_bytes_s = rate;
            take_room(s, s->room, at, (room_t){rate * flows, flows});
            for (int v = 0; v < s->uses.resource_words; v++)
                s->taken_from[v] |= s->uses.resources[at * s->uses.resource_words + v];
        }
    }
}

/* Fixes those from `first` on whose cap is not above `level`. Returns the first that stays. */
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
        settle_part(s, part);
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
