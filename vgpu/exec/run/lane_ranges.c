/* SPDX-License-Identifier: MIT
 * lane_ranges.c: see lane_ranges.h.
 */
#include "lane_interval.h"

#include <string.h>

static range either_of(range a, range b)
{
    return (range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high,
                   fewer_zeros(a.zeros, b.zeros)};
}

/* ---- arithmetic ---- */

static range multiply_ranges(range a, range b, unsigned bits)
{
    wide p[] = {(wide)a.low * b.low, (wide)a.low * b.high, (wide)a.high * b.low,
                (wide)a.high * b.high};
    wide low = p[0], high = p[0];

    for (int i = 1; i < 4; i++) {
        low = p[i] < low ? p[i] : low;
        high = p[i] > high ? p[i] : high;
    }
    return bounded(low, high, (unsigned)a.zeros + b.zeros, bits);
}

/* For ranges without negative values; exactly, by the processor's division, if both are single
 * values. */
static range divide_ranges(range a, range b, bool is_signed, unsigned bits)
{
    if (b.low <= 0 || (a.low < 0 && !is_signed))
        return any_of(bits);
    wide low = a.low < 0 ? a.low / b.low : a.low / b.high;
    wide high = a.high < 0 ? a.high / b.high : a.high / b.low;
    return bounded(low, high, 0, bits);
}

static range rest_range(range a, range b, bool is_signed, unsigned bits)
{
    if (b.low <= 0 || (a.low < 0 && !is_signed))
        return any_of(bits);
    if (is_exact(b) && a.low >= 0 && a.low / b.low == a.high / b.low)
        return bounded(a.low % b.low, a.high % b.low, 0, bits);
    return bounded(a.low < 0 ? -(b.high - 1) : 0, a.high < 0 ? 0 : b.high - 1,
                   fewer_zeros(a.zeros, b.zeros), bits);
}

static range shift_left(range a, range b, unsigned bits)
{
    if (!is_exact(b) || b.low < 0 || b.low >= (int64_t)bits)
        return any_of(bits);
    return bounded((wide)a.low * ((wide)1 << b.low), (wide)a.high * ((wide)1 << b.low),
                   a.zeros + (unsigned)b.low, bits);
}

static range shift_right(range a, range b, bool is_signed, unsigned bits)
{
    if (!is_exact(b) || b.low < 0 || b.low >= (int64_t)bits || bits == 1)
        return any_of(bits);
    if (a.low < 0 && !is_signed && b.low > 0) { /* as unsigned numbers, which are larger */
        wide all = (wide)1 << bits;
        return bounded(a.high < 0 ? (all + a.low) >> b.low : 0,
                       (a.high < 0 ? all + a.high : all - 1) >> b.low, 0, bits);
    }
    return bounded(a.low >> b.low, a.high >> b.low, a.zeros > b.low ? a.zeros - (unsigned)b.low : 0,
                   bits);
}

static range bit_and(range a, range b, unsigned bits)
{
    uint8_t zeros = a.zeros > b.zeros ? a.zeros : b.zeros;

    if (is_exact(a) && is_exact(b))
        return exactly(a.low & b.low);
    if (is_exact(a)) {
        range other = a;
        a = b;
        b = other;
    }
    if (is_exact(b) && b.low < 0 && -(uint64_t)b.low == 1ull << zeros_of(b.low)) /* rounds down */
        return bounded(a.low & b.low, a.high & b.low, zeros, bits);
    if (a.low < 0 && b.low < 0)
        return any_of(bits);
    int64_t high = a.low < 0 ? b.high : b.low < 0 ? a.high : a.high < b.high ? a.high : b.high;
    return bounded(bits == 1 ? a.low & b.low : 0, high, zeros, bits);
}

/* What an OR or XOR of numbers that are not negative can be at most. */
static wide all_bits(range a, range b)
{
    wide sum = (wide)a.high + b.high, all = 1;
    while (all <= (a.high | b.high))
        all *= 2;
    return all - 1 < sum ? all - 1 : sum;
}

static range bit_or(range a, range b, unsigned bits)
{
    if (is_exact(a) && is_exact(b))
        return exactly(a.low | b.low);
    if (bits == 1)
        return bounded(a.low | b.low, a.high | b.high, 0, bits);
    if (is_exact(a)) {
        range other = a;
        a = b;
        b = other;
    }
    if (is_exact(b) && b.low >= 0 && b.low < (int64_t)1 << (a.zeros < 62 ? a.zeros : 62))
        return bounded((wide)a.low + b.low, (wide)a.high + b.low, fewer_zeros(a.zeros, b.zeros),
                       bits);
    if (a.low < 0 || b.low < 0)
        return any_of(bits);
    return bounded(a.low > b.low ? a.low : b.low, all_bits(a, b), fewer_zeros(a.zeros, b.zeros),
                   bits);
}

static range bit_xor(range a, range b, unsigned bits)
{
    if (is_exact(a) && is_exact(b))
        return exactly(a.low ^ b.low);
    if (bits > 1 && is_exact(b) && b.low == -1) /* -1 - a */
        return bounded(~a.high, ~a.low, 0, bits);
    if (bits == 1 || a.low < 0 || b.low < 0)
        return any_of(bits);
    return bounded(0, all_bits(a, b), fewer_zeros(a.zeros, b.zeros), bits);
}

/* ---- casts ---- */

static range extend_zero(range a, unsigned from, unsigned bits)
{
    if (from == 1 || a.low >= 0)
        return bounded(a.low, a.high, a.zeros, bits);
    if (from >= 64)
        return any_of(bits);
    wide all = (wide)1 << from;
    if (a.high < 0)
        return bounded(a.low + all, a.high + all, a.zeros, bits);
    return bounded(0, all - 1, a.zeros, bits);
}

static range extend_sign(range a, unsigned from, unsigned bits)
{
    return from == 1 ? bounded(-(wide)a.high, -(wide)a.low, 0, bits)
                     : bounded(a.low, a.high, a.zeros, bits);
}

static range truncate_to(range a, unsigned bits)
{
    if (bits == 1)
        return is_exact(a) ? exactly(a.low & 1) : any_of(1);
    if (is_exact(a) && bits < 64)
        return exactly((int64_t)((uint64_t)a.low << (64 - bits)) >> (64 - bits));
    return bounded(a.low, a.high, a.zeros, bits);
}

/* ---- comparisons ---- */

/* An unsigned comparison equals the signed one if both sides have the same sign. */
static bool is_comparable(range a, range b, int how)
{
    bool is_unsigned = how >= VGPU_UGT && how <= VGPU_ULE;
    return !is_unsigned || (a.low >= 0 && b.low >= 0) || (a.high < 0 && b.high < 0);
}

range lane_compare(range a, range b, int how)
{
    bool always = false, never = false;

    if (!is_comparable(a, b, how))
        return any_of(1);
    switch (how) {
    case VGPU_EQ:
    case VGPU_NE:
        always = is_exact(a) && is_exact(b) && a.low == b.low;
        never = a.high < b.low || a.low > b.high;
        break;
    case VGPU_UGT:
    case VGPU_SGT:
        always = a.low > b.high;
        never = a.high <= b.low;
        break;
    case VGPU_UGE:
    case VGPU_SGE:
        always = a.low >= b.high;
        never = a.high < b.low;
        break;
    case VGPU_ULT:
    case VGPU_SLT:
        always = a.high < b.low;
        never = a.low >= b.high;
        break;
    default:
        always = a.high <= b.low;
        never = a.low > b.high;
    }
    if (how == VGPU_NE) {
        bool other = always;
        always = never;
        never = other;
    }
    return always ? exactly(1) : never ? exactly(0) : any_of(1);
}

/* If the condition cannot hold, the place is unreachable, and any result is correct. */
static range refine_range(range a, range b, int how)
{
    range r = a;

    if (how >= VGPU_UGT && how <= VGPU_ULE && b.low < 0)
        return a;
    if ((how == VGPU_ULT || how == VGPU_ULE) && r.low < 0)
        r.low = 0; /* unsigned, and below a non-negative number */
    else if ((how == VGPU_UGT || how == VGPU_UGE) && r.low < 0)
        return a;
    if ((how == VGPU_ULT || how == VGPU_SLT) && b.high != INT64_MIN && r.high > b.high - 1)
        r.high = b.high - 1;
    else if ((how == VGPU_ULE || how == VGPU_SLE || how == VGPU_EQ) && r.high > b.high)
        r.high = b.high;
    if ((how == VGPU_UGT || how == VGPU_SGT) && b.low != INT64_MAX && r.low < b.low + 1)
        r.low = b.low + 1;
    else if ((how == VGPU_UGE || how == VGPU_SGE || how == VGPU_EQ) && r.low < b.low)
        r.low = b.low;
    if (how == VGPU_NE && is_exact(b) && r.low < r.high) {
        r.low += r.low == b.low;
        r.high -= r.high == b.low;
    }
    if (r.low > r.high)
        return a;
    return is_exact(r) ? exactly(r.low) : r;
}

/* ---- all steps ---- */

static range argument_range(const struct vgpu_step_of_lanes *s, void **args)
{
    int64_t value = 0;
    unsigned bytes = (s->bits + 7u) / 8, unused = 64 - s->bits;
    memcpy(&value, (const char *)args[s->a] + s->value, bytes);
    if (s->bits == 1)
        return exactly(value & 1);
    return exactly((int64_t)((uint64_t)value << unused) >> unused);
}

static range merged_range(const struct vgpu_step_of_lanes *s, const range *r)
{
    bool is_first = s->a == VGPU_NO_STEP || r[s->a].low > r[s->a].high;
    if (!lane_reaches(r, s->c)) /* an unreachable place has an empty range */
        return s->a == VGPU_NO_STEP ? (range){1, 0, ZEROS_MAX} : r[s->a];
    return is_first ? r[s->b] : either_of(r[s->a], r[s->b]);
}

static range edge_range(const struct vgpu_step_of_lanes *s, const range *r)
{
    return exactly(lane_reaches(r, s->a) && r[s->b].low <= s->value && r[s->b].high >= s->value);
}

void lane_object(const struct vgpu_lanes *lanes, void **args, uint64_t number, uint64_t *first,
                 uint64_t *end)
{
    const struct vgpu_lane_object *object = &lanes->object[number];

    *first = (uint64_t)(object->address ? object->address : args[object->argument]);
    *end = *first + object->bytes;
}

static range object_range(const struct vgpu_lanes *lanes, void **args, int64_t number,
                          bool contents)
{
    uint64_t first, end;
    int64_t held;

    lane_object(lanes, args, (uint64_t)number, &first, &end);
    if (!contents)
        return exactly((int64_t)first);
    memcpy(&held, (const void *)first, sizeof held); /* NOLINT */
    return exactly(held);
}

range lane_step(const struct vgpu_lanes *lanes, uint32_t number, void **args, const int64_t *low,
                const int64_t *high, const range *r)
{
    const struct vgpu_step_of_lanes *s = &lanes->step[number];
    unsigned bits = s->bits;
    switch ((enum vgpu_step_kind)s->kind) {
    case VGPU_STEP_CONSTANT:
        return exactly(s->value);
    case VGPU_STEP_ARGUMENT:
        return argument_range(s, args);
    case VGPU_STEP_INDEX:
        return bounded(low[s->value], high[s->value], 0, bits);
    case VGPU_STEP_OBJECT:
    case VGPU_STEP_CONTENTS:
        return object_range(lanes, args, s->value, s->kind == VGPU_STEP_CONTENTS);
    case VGPU_STEP_ADD:
        return bits == 1
                   ? any_of(1)
                   : bounded((wide)r[s->a].low + r[s->b].low, (wide)r[s->a].high + r[s->b].high,
                             fewer_zeros(r[s->a].zeros, r[s->b].zeros), bits);
    case VGPU_STEP_SUB:
        return bits == 1
                   ? any_of(1)
                   : bounded((wide)r[s->a].low - r[s->b].high, (wide)r[s->a].high - r[s->b].low,
                             fewer_zeros(r[s->a].zeros, r[s->b].zeros), bits);
    case VGPU_STEP_MUL:
        return multiply_ranges(r[s->a], r[s->b], bits);
    case VGPU_STEP_UDIV:
        return divide_ranges(r[s->a], r[s->b], false, bits);
    case VGPU_STEP_SDIV:
        return divide_ranges(r[s->a], r[s->b], true, bits);
    case VGPU_STEP_UREM:
        return rest_range(r[s->a], r[s->b], false, bits);
    case VGPU_STEP_SREM:
        return rest_range(r[s->a], r[s->b], true, bits);
    case VGPU_STEP_SHL:
        return shift_left(r[s->a], r[s->b], bits);
    case VGPU_STEP_LSHR:
        return shift_right(r[s->a], r[s->b], false, bits);
    case VGPU_STEP_ASHR:
        return shift_right(r[s->a], r[s->b], true, bits);
    case VGPU_STEP_AND:
        return bit_and(r[s->a], r[s->b], bits);
    case VGPU_STEP_OR:
        return bit_or(r[s->a], r[s->b], bits);
    case VGPU_STEP_XOR:
        return bit_xor(r[s->a], r[s->b], bits);
    case VGPU_STEP_ZEXT:
        return extend_zero(r[s->a], (unsigned)s->value, bits);
    case VGPU_STEP_SEXT:
        return extend_sign(r[s->a], (unsigned)s->value, bits);
    case VGPU_STEP_TRUNC:
        return truncate_to(r[s->a], bits);
    case VGPU_STEP_COMPARE:
        return lane_compare(r[s->a], r[s->b], (int)s->value);
    case VGPU_STEP_SELECT:
        return is_exact(r[s->a]) ? r[r[s->a].low != 0 ? s->b : s->c] : either_of(r[s->b], r[s->c]);
    case VGPU_STEP_REFINE:
        return refine_range(r[s->a], r[s->b], (int)s->value);
    case VGPU_STEP_EDGE:
        return edge_range(s, r);
    case VGPU_STEP_EITHER:
        return exactly(lane_reaches(r, s->a) || lane_reaches(r, s->b));
    case VGPU_STEP_MERGE:
        return merged_range(s, r);
    case VGPU_STEP_TRIPS:
        return trips_range(s, r);
    case VGPU_STEP_SERIES:
        return series_range(s, r);
    case VGPU_STEP_COUNTED:
        return counted_range(s, lanes->step, r);
    default:
        return any_of(bits);
    }
}

void lane_ranges(const struct vgpu_lanes *lanes, void **args, const int64_t low[VGPU_LANE_KNOWN],
                 const int64_t high[VGPU_LANE_KNOWN], struct lane_range *result)
{
    for (uint32_t i = 0; i < lanes->step_count; i++)
        result[i] = lane_step(lanes, i, args, low, high, result);
}

static bool is_only(range r, int64_t value)
{
    return r.low == value && r.high == value;
}

bool lane_demand_takes(const struct vgpu_lane_demand *d, const range *r)
{
    switch ((enum vgpu_lane_demand_kind)d->kind) {
    case VGPU_DEMAND_GUARD:
        return is_only(*r, d->value);
    case VGPU_DEMAND_DIVISOR:
        return r->low > 0 || (r->high < 0 && (d->value == 0 || r->high < -1));
    case VGPU_DEMAND_WARPS:
        return r->zeros >= 5;
    case VGPU_DEMAND_LANES:
        return is_only(*r, -1);
    default:
        return r->high > 0;
    }
}

bool lane_demand_holds(const struct vgpu_lane_demand *d, const range *result, bool edge)
{
    return !lane_reaches(result, d->place) || (edge && d->kind == VGPU_DEMAND_GUARD) ||
           lane_demand_takes(d, &result[d->step]);
}

const char *lane_demand_reason(const struct vgpu_lane_demand *d)
{
    static const char *const why[] = {
        [VGPU_DEMAND_GUARD] = "some threads leave it early",
        [VGPU_DEMAND_DIVISOR] = "it may divide by zero",
        [VGPU_DEMAND_LOOP] = "a loop in it may not end",
        [VGPU_DEMAND_WARPS] = "its warps are not 32 threads in a row (blockDim.x)",
        [VGPU_DEMAND_LANES] = "only some lanes of a warp work together in it"};

    return why[d->kind];
}
