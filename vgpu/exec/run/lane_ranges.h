/* SPDX-License-Identifier: MIT
 * lane_ranges.h: interval analysis: the values that the integers and pointers of a kernel can have
 * in some blocks, by evaluating the steps of lanes.h.
 */
#ifndef VGPU_EXEC_LANE_RANGES_H
#define VGPU_EXEC_LANE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "lanes.h"

struct lane_range {
    int64_t low, high;
    uint8_t zeros; /* number of low bits that are zero in all values */
};

/* The steps' results. low and high are those of the indices (enum vgpu_lane_index) and of
 * shared memory. */
void lane_ranges(const struct vgpu_lanes *lanes, void **args, const int64_t low[VGPU_LANE_KNOWN],
                 const int64_t high[VGPU_LANE_KNOWN], struct lane_range *result);

/* Where the object lies: [*first, *end). */
void lane_object(const struct vgpu_lanes *lanes, void **args, uint64_t number, uint64_t *first,
                 uint64_t *end);

/* Which condition of the fast form does not hold, as a reason; NULL: all hold. edge: guards need
 * not. */
const char *lane_demand_failed(const struct vgpu_lanes *lanes, const struct lane_range *result,
                               bool edge);

/* Whether the place can be reached. */
static inline bool lane_reaches(const struct lane_range *result, uint16_t place)
{
    return result[place].high != 0;
}

#endif
