/* SPDX-License-Identifier: MIT
 * exec_lanes.c: the ranges of a kernel's fast form hold every value that can come about: each step
 * is asked about random intervals of small numbers, and compared with all numbers in these.
 */
#include <string.h>

#include "lane_cases.h"
#include "unit.h"

enum { BITS = 6, ROUNDS = 1000, TRIPS = 8, COUNTED = 9, SERIES = 12, STEPS = 13 };

static struct vgpu_step_of_lanes step[STEPS];
static struct lane_range result[STEPS];

static int64_t wrap(int64_t value, unsigned bits)
{
    if (bits == 1)
        return value & 1;
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

static uint64_t as_unsigned(int64_t value, unsigned bits)
{
    return (uint64_t)value & ((1ull << bits) - 1);
}

static void ask(uint32_t count)
{
    int64_t index[VGPU_LANE_KNOWN] = {0};
    struct vgpu_lanes lanes = {.step = step, .step_count = count};

    lane_ranges(&lanes, NULL, index, index, result);
}

/* A number between two: a select by step 0, of which nothing is known. */
static void put_interval(uint32_t at, int64_t low, int64_t high)
{
    step[at] = (struct vgpu_step_of_lanes){VGPU_STEP_CONSTANT, BITS, 0, 0, 0, low};
    step[at + 1] = (struct vgpu_step_of_lanes){VGPU_STEP_CONSTANT, BITS, 0, 0, 0, high};
    step[at + 2] =
        (struct vgpu_step_of_lanes){VGPU_STEP_SELECT, BITS, 0, (uint16_t)at, (uint16_t)(at + 1), 0};
}

static int64_t draw(void)
{
    return (int64_t)unit_dice(1 << BITS) - (1 << (BITS - 1));
}

/* Two numbers of 6 bits, in order; often equal, and often multiples of 4. */
static void draw_two(int64_t *low, int64_t *high)
{
    int64_t a = draw(), b = unit_dice(3) == 0 ? a : draw();
    if (unit_dice(3) == 0)
        a &= ~3, b &= ~3;
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

static bool holds(const struct lane_range *r, int64_t value)
{
    return r->low <= value && value <= r->high &&
           (r->zeros >= 63 ? value == 0 : ((uint64_t)value & ((1ull << r->zeros) - 1)) == 0);
}

/* ---- arithmetic ---- */

/* What LLVM's instruction gives; false: it gives nothing. */
static bool compute(int kind, int64_t a, int64_t b, int64_t value, int64_t *out)
{
    uint64_t ua = as_unsigned(a, BITS), ub = as_unsigned(b, BITS);
    switch (kind) {
    case VGPU_STEP_ADD:
        *out = wrap(a + b, BITS);
        return true;
    case VGPU_STEP_SUB:
        *out = wrap(a - b, BITS);
        return true;
    case VGPU_STEP_MUL:
        *out = wrap(a * b, BITS);
        return true;
    case VGPU_STEP_UDIV:
        *out = ub ? wrap((int64_t)(ua / ub), BITS) : 0;
        return ub != 0;
    case VGPU_STEP_UREM:
        *out = ub ? wrap((int64_t)(ua % ub), BITS) : 0;
        return ub != 0;
    case VGPU_STEP_SDIV:
        *out = b ? wrap(a / b, BITS) : 0;
        return b != 0;
    case VGPU_STEP_SREM:
        *out = b ? wrap(a % b, BITS) : 0;
        return b != 0;
    case VGPU_STEP_SHL:
        *out = ub < BITS ? wrap((int64_t)(ua << ub), BITS) : 0;
        return ub < BITS;
    case VGPU_STEP_LSHR:
        *out = ub < BITS ? wrap((int64_t)(ua >> ub), BITS) : 0;
        return ub < BITS;
    case VGPU_STEP_ASHR:
        *out = ub < BITS ? a >> ub : 0;
        return ub < BITS;
    case VGPU_STEP_AND:
        *out = a & b;
        return true;
    case VGPU_STEP_OR:
        *out = a | b;
        return true;
    case VGPU_STEP_XOR:
        *out = a ^ b;
        return true;
    case VGPU_STEP_COMPARE: {
        const bool is[] = {a == b, a != b, ua > ub, ua >= ub, ua<ub, ua <= ub, a> b,
                           a >= b, a < b,  a <= b};
        *out = is[value];
        return true;
    }
    case VGPU_STEP_REFINE: {
        int64_t is;
        *out = a;
        return compute(VGPU_STEP_COMPARE, a, b, value, &is) && is;
    }
    default:
        return false;
    }
}

/* Between the ends all numbers count that are multiples of what the ends are. */
static const char *check_binary(int kind)
{
    int64_t low[2], high[2], out;
    int64_t value =
        kind == VGPU_STEP_COMPARE || kind == VGPU_STEP_REFINE ? (int64_t)unit_dice(10) : 0;
    memset(step, 0, sizeof step);
    step[0] = (struct vgpu_step_of_lanes){VGPU_STEP_UNKNOWN, 1, 0, 0, 0, 0};
    draw_two(&low[0], &high[0]);
    draw_two(&low[1], &high[1]);
    put_interval(1, low[0], high[0]);
    put_interval(4, low[1], high[1]);
    step[7] = (struct vgpu_step_of_lanes){
        (uint8_t)kind, kind == VGPU_STEP_COMPARE ? 1 : BITS, 3, 6, 0, value};
    ask(8);
    for (int64_t a = low[0]; a <= high[0]; a++)
        for (int64_t b = low[1]; b <= high[1]; b++)
            if (holds(&result[3], a) && holds(&result[6], b) && compute(kind, a, b, value, &out) &&
                !holds(&result[7], out))
                return unit_says("kind %d (%lld) of [%lld, %lld] and [%lld, %lld] is [%lld, %lld], "
                                 "and not %lld",
                                 kind, (long long)value, (long long)low[0], (long long)high[0],
                                 (long long)low[1], (long long)high[1], (long long)result[7].low,
                                 (long long)result[7].high, (long long)out);
    return NULL;
}

UNIT(ranges_hold_what_instructions_give)
{
    unit_seed(11);
    for (int kind = VGPU_STEP_ADD; kind <= VGPU_STEP_REFINE; kind++)
        for (int i = 0; i < ROUNDS; i++) {
            const char *wrong = check_binary(kind);
            EXPECT(!wrong, "%s", wrong);
        }
}

UNIT(known_numbers_stay_known)
{
    static const int kinds[] = {VGPU_STEP_ADD, VGPU_STEP_SUB, VGPU_STEP_MUL, VGPU_STEP_AND,
                                VGPU_STEP_OR};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        step[0] = (struct vgpu_step_of_lanes){VGPU_STEP_CONSTANT, BITS, 0, 0, 0, 5};
        step[1] = (struct vgpu_step_of_lanes){VGPU_STEP_CONSTANT, BITS, 0, 0, 0, 3};
        step[2] = (struct vgpu_step_of_lanes){(uint8_t)kinds[i], BITS, 0, 1, 0, 0};
        ask(3);
        EXPECT(result[2].low == result[2].high, "kind %d of 5 and 3 is [%lld, %lld]", kinds[i],
               (long long)result[2].low, (long long)result[2].high);
    }
}

static const char *check_cast(int kind, unsigned from, unsigned to)
{
    int64_t low, high;
    memset(step, 0, sizeof step);
    step[0] = (struct vgpu_step_of_lanes){VGPU_STEP_UNKNOWN, 1, 0, 0, 0, 0};
    draw_two(&low, &high);
    if (from == 1)
        low = 0, high = (int64_t)unit_dice(2);
    put_interval(1, low, high);
    step[4] = (struct vgpu_step_of_lanes){(uint8_t)kind, (uint8_t)to, 3, 0, 0, from};
    ask(5);
    for (int64_t a = low; a <= high; a++) {
        int64_t out = kind == VGPU_STEP_ZEXT   ? wrap((int64_t)as_unsigned(a, from), to)
                      : kind == VGPU_STEP_SEXT ? (from == 1 ? -a : a)
                                               : wrap(a, to);
        if (holds(&result[3], a) && !holds(&result[4], out))
            return unit_says("cast %d of [%lld, %lld] from %u to %u bits: not %lld", kind,
                             (long long)low, (long long)high, from, to, (long long)out);
    }
    return NULL;
}

UNIT(ranges_hold_what_casts_give)
{
    unit_seed(12);
    for (int i = 0; i < ROUNDS; i++) {
        const char *wrong = check_cast(VGPU_STEP_ZEXT, BITS, 12);
        wrong = wrong ? wrong : check_cast(VGPU_STEP_SEXT, BITS, 12);
        wrong = wrong ? wrong : check_cast(VGPU_STEP_TRUNC, BITS, 4);
        wrong = wrong ? wrong : check_cast(VGPU_STEP_TRUNC, BITS, 1);
        wrong = wrong ? wrong : check_cast(VGPU_STEP_SEXT, 1, BITS);
        wrong = wrong ? wrong : check_cast(VGPU_STEP_ZEXT, 1, BITS);
        EXPECT(!wrong, "%s", wrong);
    }
}

/* ---- loops ---- */

static int way; /* 0: by addition */

static int64_t step_on(int64_t v, int64_t by)
{
    int64_t next = wrap(v + by, BITS);
    if (way)
        compute(way == VGPU_LOOP_HALVES ? VGPU_STEP_LSHR : VGPU_STEP_SHL, v, by, 0, &next);
    return next;
}

/* for (v = start;; v += by) { if (!((old ? v : v + by) `how` bound)) break; }: what v is, and how
 * often it goes round, is in the ranges, if these say anything. */
static const char *run_loop(int64_t start, int64_t bound, int64_t by, int how, bool old)
{
    int64_t v = start, is;
    for (int64_t trips = 1;; trips++) {
        if (!holds(&result[COUNTED], v))
            return unit_says("%lld is not in [%lld, %lld]", (long long)v,
                             (long long)result[COUNTED].low, (long long)result[COUNTED].high);
        if (trips > result[TRIPS].high)
            return unit_says("it goes on after %lld", (long long)result[TRIPS].high);
        if (!holds(&result[SERIES], wrap(100 * (trips - 1), 12)))
            return unit_says("round %lld: the series is [%lld, %lld]", (long long)trips,
                             (long long)result[SERIES].low, (long long)result[SERIES].high);
        compute(VGPU_STEP_COMPARE, old ? v : step_on(v, by), bound, how, &is);
        if (!is)
            return NULL;
        v = step_on(v, by);
    }
}

static const char *check_loop(void)
{
    int64_t low[2], high[2], by = (int64_t)unit_dice(13) - 6;
    int how = (int)unit_dice(10);
    bool old = unit_dice(2);
    if (way)
        by = 1 + (int64_t)unit_dice(3);
    draw_two(&low[0], &high[0]);
    draw_two(&low[1], &high[1]);
    for (int i = 0; way && unit_dice(3) && i < 2; i++) /* as they mostly are */
        low[i] = low[i] < 0 ? 1 : low[i] / 8, high[i] = low[i] + (int64_t)unit_dice(8);
    step[0] = (struct vgpu_step_of_lanes){VGPU_STEP_UNKNOWN, 1, 0, 0, 0, 0};
    put_interval(1, low[0], high[0]);
    put_interval(4, low[1], high[1]);
    step[7] = (struct vgpu_step_of_lanes){VGPU_STEP_CONSTANT, BITS, 0, 0, 0, by};
    step[TRIPS] = (struct vgpu_step_of_lanes){
        VGPU_STEP_TRIPS, BITS, 3, 6, 7, how | way | (old ? VGPU_LOOP_OLD : 0)};
    step[COUNTED] = (struct vgpu_step_of_lanes){VGPU_STEP_COUNTED, BITS, 3, TRIPS, 7, 0};
    step[10] = (struct vgpu_step_of_lanes){VGPU_STEP_CONSTANT, 12, 0, 0, 0, 0};
    step[11] = (struct vgpu_step_of_lanes){VGPU_STEP_CONSTANT, 12, 0, 0, 0, 100};
    step[SERIES] = (struct vgpu_step_of_lanes){VGPU_STEP_SERIES, 12, 10, TRIPS, 11, 0};
    ask(STEPS);
    if (result[TRIPS].high == 0)
        return NULL; /* it says nothing */
    for (int64_t a = low[0]; a <= high[0]; a++)
        for (int64_t b = low[1]; b <= high[1]; b++) {
            const char *wrong =
                holds(&result[3], a) && holds(&result[6], b) ? run_loop(a, b, by, how, old) : NULL;
            if (wrong)
                return unit_says("from %lld by %lld while %s %d %lld (start [%lld, %lld], bound "
                                 "[%lld, %lld]): %s",
                                 (long long)a, (long long)by, old ? "old" : "next", how,
                                 (long long)b, (long long)low[0], (long long)high[0],
                                 (long long)low[1], (long long)high[1], wrong);
        }
    return "";
}

static void check_loops(int which)
{
    int known = 0;
    way = which;
    for (int i = 0; i < 20 * ROUNDS; i++) {
        const char *wrong = check_loop();
        known += wrong != NULL;
        EXPECT(!wrong || !*wrong, "%s", wrong);
    }
    EXPECT(known > ROUNDS, "only %d loops have an end that is known", known);
}

UNIT(ranges_hold_what_loops_count)
{
    unit_seed(13);
    check_loops(0);
    check_loops(VGPU_LOOP_HALVES);
    check_loops(VGPU_LOOP_DOUBLES);
}

UNIT(a_range_without_its_end)
{
    step[0] = (struct vgpu_step_of_lanes){VGPU_STEP_UNKNOWN, 1, 0, 0, 0, 0};
    put_interval(1, 0, 7);
    put_interval(4, 0, 0);
    step[7] = (struct vgpu_step_of_lanes){VGPU_STEP_REFINE, BITS, 3, 6, 0, VGPU_NE};
    ask(8);
    EXPECT(result[7].low == 1 && result[7].high == 7, "not 0: from 1 to 7");
}

/* ---- demands ---- */

UNIT(demands_hold_only_for_all_threads)
{
    struct vgpu_lane_demand demand = {VGPU_DEMAND_GUARD, 0, 1, 1};
    result[1] = (struct lane_range){1, 1, 0};
    result[0] = (struct lane_range){1, 1, 0};
    EXPECT(lane_demand_holds(&demand, result, false), "a guard that is known");
    result[0].low = 0;
    EXPECT(!lane_demand_holds(&demand, result, false), "some threads leave");
    EXPECT(lane_demand_holds(&demand, result, true), "some threads leave at the edge");
    demand = (struct vgpu_lane_demand){VGPU_DEMAND_DIVISOR, 0, 1, 1};
    result[0] = (struct lane_range){-5, -1, 0};
    EXPECT(!lane_demand_holds(&demand, result, false), "the lowest number by -1");
    result[0] = (struct lane_range){0, 3, 0};
    EXPECT(!lane_demand_holds(&demand, result, false), "a division by zero");
    result[1] = (struct lane_range){0, 0, 63};
    EXPECT(lane_demand_holds(&demand, result, false), "no thread comes there");
    result[1] = (struct lane_range){1, 1, 0};
    demand.kind = VGPU_DEMAND_WARPS;
    result[0] = (struct lane_range){64, 64, 6};
    EXPECT(lane_demand_holds(&demand, result, false), "two warps in a row");
    result[0] = (struct lane_range){48, 48, 4};
    EXPECT(!lane_demand_holds(&demand, result, false), "a warp and a half");
    demand.kind = VGPU_DEMAND_LANES;
    EXPECT(!lane_demand_holds(&demand, result, false), "some lanes");
    result[0] = (struct lane_range){-1, -1, 0};
    EXPECT(lane_demand_holds(&demand, result, false), "all lanes");
}

/* ---- case by case ---- */

static bool is_below(const struct lane_range *r, const void *most)
{
    return r->high <= *(const int64_t *)most;
}

/* for (d = 4; d <= 16; d += 4) { product = d * (20 - d); sum = x + 4 * d; x += 20 - d; } */
UNIT(cases_keep_rounds_apart)
{
    enum { D = 4, LESS = 6, X = 8, TIMES = 10, SUM, PRODUCT, PLACE };
    struct vgpu_step_of_lanes round[] = {
        {VGPU_STEP_CONSTANT, 32, 0, 0, 0, 4},
        {VGPU_STEP_CONSTANT, 32, 0, 0, 0, 16},
        {VGPU_STEP_CONSTANT, 32, 0, 0, 0, 4},
        {VGPU_STEP_TRIPS, 32, 0, 1, 2, VGPU_SLE},
        [D] = {VGPU_STEP_COUNTED, 32, 0, 3, 2, 0},
        {VGPU_STEP_CONSTANT, 32, 0, 0, 0, 20},
        [LESS] = {VGPU_STEP_SUB, 32, 5, D, 0, 0},
        {VGPU_STEP_CONSTANT, 32, 0, 0, 0, 0},
        [X] = {VGPU_STEP_SERIES, 32, 7, 3, LESS, 0},
        {VGPU_STEP_CONSTANT, 32, 0, 0, 0, 4},
        [TIMES] = {VGPU_STEP_MUL, 32, 9, D, 0, 0},
        [SUM] = {VGPU_STEP_ADD, 32, X, TIMES, 0, 0},
        [PRODUCT] = {VGPU_STEP_MUL, 32, D, LESS, 0, 0},
        [PLACE] = {VGPU_STEP_CONSTANT, 1, 0, 0, 0, 1},
    };
    struct vgpu_lanes lanes = {.step = round, .step_count = sizeof round / sizeof *round};
    int64_t index[VGPU_LANE_KNOWN] = {0}, most = 96;
    struct lane_question q = {&lanes, NULL, index, index, PRODUCT, PLACE, is_below, &most};
    struct lane_range all;
    EXPECT(lane_holds_in_cases(&q, &all), "8 * 12 at most");
    EXPECT(all.low == 64 && all.high == 96, "from 4 * 16 on");
    most = 95;
    EXPECT(!lane_holds_in_cases(&q, &all), "8 * 12");
    q.step = SUM; /* 36 + 64 in the last round; 12 + 64 by the last round's distances alone */
    most = 99;
    EXPECT(!lane_holds_in_cases(&q, &all), "sums of earlier rounds");
}
