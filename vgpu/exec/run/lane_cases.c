/* SPDX-License-Identifier: MIT
 * lane_cases.c: see lane_cases.h.
 *
 * A loop's counter is one number at a time, and what depends on it is of the same round: values of
 * an earlier one come only through SERIES steps. So a counter that the distance of a series depends
 * on stays an interval.
 */
#include "lane_cases.h"

#include "lane_interval.h"

#include <string.h>

enum { CASES_MAX = 16384 };

struct cases {
    const struct lane_question *q;
    int64_t low[VGPU_LANE_KNOWN], high[VGPU_LANE_KNOWN];
    bool needed[VGPU_LANE_STEPS], summed[VGPU_LANE_STEPS];
    struct lane_range result[VGPU_LANE_STEPS], all;
    uint32_t last, left;
    bool by_thread;
};

/* ---- which steps ---- */

static void mark_operand(const struct vgpu_lanes *lanes, uint16_t operand, bool *marked)
{
    if (operand < lanes->step_count)
        marked[operand] = true;
}

/* Marks what the marked steps are computed from. */
static void mark_sources(const struct vgpu_lanes *lanes, bool *marked)
{
    for (uint32_t i = lanes->step_count; i-- > 0;) {
        const struct vgpu_step_of_lanes *s = &lanes->step[i];
        unsigned used = marked[i] ? vgpu_step_operands(s) : 0;
        if (used & 1)
            mark_operand(lanes, s->a, marked);
        if (used & 2)
            mark_operand(lanes, s->b, marked);
        if (used & 4)
            mark_operand(lanes, s->c, marked);
    }
}

/* False: it depends on the block. */
static bool find_steps(struct cases *c)
{
    const struct vgpu_lanes *lanes = c->q->lanes;
    c->needed[c->q->step] = c->needed[c->q->place] = true;
    mark_sources(lanes, c->needed);
    for (uint32_t i = 0; i < lanes->step_count; i++) {
        const struct vgpu_step_of_lanes *s = &lanes->step[i];
        if (!c->needed[i])
            continue;
        c->last = i;
        if (s->kind == VGPU_STEP_SERIES || s->kind == VGPU_STEP_TRIPS)
            mark_operand(lanes, s->c, c->summed);
        if (s->kind == VGPU_STEP_INDEX && s->value >= VGPU_LANE_BLOCK &&
            s->value < VGPU_LANE_BLOCK_DIM)
            return false;
        c->by_thread |= s->kind == VGPU_STEP_INDEX && s->value == VGPU_LANE_THREAD;
    }
    mark_sources(lanes, c->summed);
    return true;
}

/* ---- cases ---- */

static bool ask(struct cases *c)
{
    const struct lane_range *r = &c->result[c->q->step];
    if (!lane_reaches(c->result, c->q->place))
        return true;
    c->all.low = r->low < c->all.low ? r->low : c->all.low;
    c->all.high = r->high > c->all.high ? r->high : c->all.high;
    return c->q->holds(r, c->q->of);
}

static int64_t next_count(const struct vgpu_step_of_lanes *trips, int64_t value, int64_t by)
{
    unsigned unused = 64u - trips->bits;
    if (trips->value & VGPU_LOOP_HALVES)
        return value >> by;
    uint64_t next =
        trips->value & VGPU_LOOP_DOUBLES ? (uint64_t)value << by : (uint64_t)value + (uint64_t)by;
    return (int64_t)(next << unused) >> unused;
}

static bool go_through(struct cases *c, uint32_t from);

/* The counter `at` has each of its numbers in turn. */
static bool count_through(struct cases *c, uint32_t at, const struct vgpu_step_of_lanes *trips)
{
    range start = c->result[trips->a], bound = c->result[trips->b], by = c->result[trips->c];
    for (int64_t value = start.low;;) {
        int64_t next = next_count(trips, value, by.low);
        int64_t compared = trips->value & VGPU_LOOP_OLD ? value : next;
        c->result[at] = exactly(value);
        if (!go_through(c, at + 1))
            return false;
        range more = lane_compare(exactly(compared), bound, (int)(trips->value & 15));
        if (!is_exact(more))
            return false;
        if (more.low == 0)
            return true;
        value = next;
    }
}

static bool is_countable(const struct cases *c, uint32_t at)
{
    const struct vgpu_step_of_lanes *s = &c->q->lanes->step[at], *trips;
    if (s->kind != VGPU_STEP_COUNTED || c->summed[at])
        return false;
    trips = &c->q->lanes->step[s->b];
    return c->result[s->b].high > 0 && trips->bits >= 8 && is_exact(c->result[trips->a]) &&
           is_exact(c->result[trips->b]) && is_exact(c->result[trips->c]);
}

static bool go_through(struct cases *c, uint32_t from)
{
    const struct vgpu_lanes *lanes = c->q->lanes;
    for (uint32_t i = from; i <= c->last; i++) {
        if (!c->needed[i])
            continue;
        if (is_countable(c, i))
            return count_through(c, i, &lanes->step[lanes->step[i].b]);
        c->result[i] = lane_step(lanes, i, c->q->args, c->low, c->high, c->result);
    }
    return c->left-- > 0 && ask(c);
}

bool lane_holds_in_cases(const struct lane_question *q, struct lane_range *all)
{
    static struct cases c;
    memset(&c, 0, sizeof c);
    c.q = q;
    c.left = CASES_MAX;
    c.all = (range){INT64_MAX, INT64_MIN, 0};
    memcpy(c.low, q->low, sizeof c.low);
    memcpy(c.high, q->high, sizeof c.high);
    bool holds = find_steps(&c);
    int64_t first = q->low[VGPU_LANE_THREAD], end = q->high[VGPU_LANE_THREAD];
    for (int64_t x = first; holds && c.by_thread && x <= end; x++) {
        c.low[VGPU_LANE_THREAD] = c.high[VGPU_LANE_THREAD] = x;
        holds = go_through(&c, 0);
    }
    if (holds && !c.by_thread)
        holds = go_through(&c, 0);
    *all = c.all;
    return holds;
}
