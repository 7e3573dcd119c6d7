/* SPDX-License-Identifier: MIT
 * lane_interval.h: interval arithmetic for lane_ranges.c and lane_trips.c. A result that may leave
 * its type's range is widened to all numbers of the type.
 */
#ifndef VGPU_EXEC_LANE_INTERVAL_H
#define VGPU_EXEC_LANE_INTERVAL_H

#include "lane_ranges.h"

enum { ZEROS_MAX = 63 };
typedef struct lane_range range;
typedef __int128 wide;

static inline int64_t lowest(unsigned bits)
{
    return bits == 1 ? 0 : bits >= 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
}

static inline int64_t highest(unsigned bits)
{
    return bits == 1 ? 1 : bits >= 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
}

static inline range any_of(unsigned bits)
{
    return (range){lowest(bits), highest(bits), 0};
}

static inline uint8_t zeros_of(int64_t value)
{
    return value == 0 ? ZEROS_MAX : (uint8_t)__builtin_ctzll((uint64_t)value);
}

static inline uint8_t fewer_zeros(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

static inline range exactly(int64_t value)
{
    return (range){value, value, zeros_of(value)};
}

static inline bool is_exact(range r)
{
    return r.low == r.high;
}

/* From low to high, if the type holds these. */
static inline range bounded(wide low, wide high, unsigned zeros, unsigned bits)
{
    range any = any_of(bits);

    any.zeros = (uint8_t)(zeros < ZEROS_MAX ? zeros : ZEROS_MAX);
    if (low < any.low || high > any.high || low > high)
        return any;
    if (low == high)
        return exactly((int64_t)low);
    any.low = (int64_t)low;
    any.high = (int64_t)high;
    return any;
}

/* ---- lane_trips.c: loops ---- */

range trips_range(const struct vgpu_step_of_lanes *s, const range *r);
range counted_range(const struct vgpu_step_of_lanes *s, const struct vgpu_step_of_lanes *all,
                    const range *r);
range series_range(const struct vgpu_step_of_lanes *s, const range *r);

#endif
