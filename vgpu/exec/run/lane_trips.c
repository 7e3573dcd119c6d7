/* SPDX-License-Identifier: MIT
 * lane_trips.c: trip counts of loops, and the ranges of the variables that count them.
 */
#include "lane_interval.h"

/* A loop that certainly ends: it continues while (next or present value) `how` bound. */
struct loop {
    range start, bound, step;
    int how;
    bool old; /* the present value is compared, not the next one */
};

static struct loop loop_of(const struct vgpu_step_of_lanes *s, const range *r)
{
    return (struct loop){r[s->a], r[s->b], r[s->c], (int)(s->value & 15),
                         (s->value & VGPU_LOOP_OLD) != 0};
}

/* The distance can be gone in whole steps, whichever of the numbers it is. */
static bool meets_exactly(const struct loop *l)
{
    int64_t step = l->step.low < 0 ? -l->step.low : l->step.low;
    if (is_exact(l->start) && is_exact(l->bound))
        return ((wide)l->bound.low - l->start.low) % step == 0;
    return (step & (step - 1)) == 0 &&
           fewer_zeros(l->start.zeros, l->bound.zeros) >= __builtin_ctzll((uint64_t)step);
}

/* The most iterations; *last: the values furthest from the start that it begins one with.
 * 0: not known. */
static wide most_trips(const struct loop *l, wide *last, unsigned bits)
{
    bool is_unsigned = l->how >= VGPU_UGT && l->how <= VGPU_ULE;
    bool up = l->step.low > 0, down = l->step.high < 0;
    wide step, bound, start, room;

    if ((!up && !down) || l->step.low == INT64_MIN ||
        (is_unsigned && (l->start.low < 0 || l->bound.low < 0 || down)))
        return 0;
    step = up ? l->step.low : -(wide)l->step.high;    /* the shortest */
    start = up ? l->start.low : -(wide)l->start.high; /* the furthest away */
    bound = up ? l->bound.high : -(wide)l->bound.low; /* the same */
    room = up ? highest(bits) : -(wide)lowest(bits);
    wide longest = up ? l->step.high : -(wide)l->step.low;
    wide nearest_start = up ? l->start.high : -(wide)l->start.low;
    wide nearest_bound = up ? l->bound.low : -(wide)l->bound.high;
    wide old = l->old ? step : 0;
    switch (l->how) {
    case VGPU_NE:
        if (!is_exact(l->step) || !meets_exactly(l) || nearest_bound - nearest_start < step - old)
            return 0;
        *last = bound - step + old;
        return (bound - start + old) / step;
    case VGPU_SLT:
    case VGPU_ULT:
    case VGPU_SGT:
        if (up != (l->how != VGPU_SGT))
            return 0;
        bound -= 1;
        break;
    case VGPU_SLE:
    case VGPU_ULE:
    case VGPU_SGE:
        if (up != (l->how != VGPU_SGE))
            return 0;
        break;
    default:
        return 0;
    }
    /* The bound is the last value that lets it go on. */
    *last = bound + (l->old ? longest : 0);
    if (*last < nearest_start)
        *last = nearest_start;
    if (*last + longest > room) /* what it counts in would turn over */
        return 0;
    return bound < start ? 1 + (l->old != 0) : (bound - start) / step + 1 + (l->old != 0);
}

/* It goes to 0, and ends there at the latest; or from 1 or more up to the bound. */
static wide most_shifts(const struct vgpu_step_of_lanes *s, const range *r, range *values)
{
    struct loop l = loop_of(s, r);
    int64_t most = l.start.high > l.bound.high ? l.start.high : l.bound.high, by = l.step.low;

    if (!is_exact(l.step) || by < 1 || by >= (int64_t)s->bits || l.start.low < 0)
        return 0;
    if (s->value & VGPU_LOOP_HALVES) {
        *values = (range){0, l.start.high, 0};
        bool above = l.how == VGPU_UGT || l.how == VGPU_SGT,
             from = l.how == VGPU_UGE || l.how == VGPU_SGE;
        return (above && l.bound.low >= 0) || (from && l.bound.low >= 1) ||
                       (l.how == VGPU_NE && is_exact(l.bound) && l.bound.low == 0)
                   ? s->bits + 2
                   : 0;
    }
    if (l.start.low < 1 || l.bound.low < 0 || (wide)most << by > highest(s->bits) ||
        (l.how != VGPU_ULT && l.how != VGPU_ULE && l.how != VGPU_SLT && l.how != VGPU_SLE))
        return 0;
    *values = (range){l.start.low, l.old ? most << by : most, 0};
    return s->bits + 2;
}

range trips_range(const struct vgpu_step_of_lanes *s, const range *r)
{
    struct loop l = loop_of(s, r);
    range values;
    wide last, most = s->value & (VGPU_LOOP_HALVES | VGPU_LOOP_DOUBLES)
                          ? most_shifts(s, r, &values)
                          : most_trips(&l, &last, s->bits);
    return most > 0 && most < (wide)1 << 62 ? (range){1, (int64_t)most, 0} : (range){0, 0, 0};
}

range counted_range(const struct vgpu_step_of_lanes *s, const struct vgpu_step_of_lanes *all,
                    const range *r)
{
    struct loop l = loop_of(&all[s->b], r);
    range values = any_of(s->bits);
    if (all[s->b].value & (VGPU_LOOP_HALVES | VGPU_LOOP_DOUBLES))
        return most_shifts(&all[s->b], r, &values) > 0 ? values : any_of(s->bits);
    wide last, most = most_trips(&l, &last, s->bits);
    unsigned zeros = fewer_zeros(l.start.zeros, l.step.zeros);
    if (most <= 0)
        return any_of(s->bits);
    return l.step.low > 0 ? bounded(l.start.low, last, zeros, s->bits)
                          : bounded(-last, l.start.high, zeros, s->bits);
}

range series_range(const struct vgpu_step_of_lanes *s, const range *r)
{
    range start = r[s->a], step = r[s->c];
    wide most = (wide)r[s->b].high - 1;
    if (r[s->b].high == 0 || most > (wide)1 << 40)
        return any_of(s->bits);
    wide low = step.low < 0 ? most * step.low : 0, high = step.high > 0 ? most * step.high : 0;
    return bounded(start.low + low, start.high + high, fewer_zeros(start.zeros, step.zeros),
                   s->bits);
}
