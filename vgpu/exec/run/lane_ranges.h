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

/* The result of one step, from those of the steps before it. */
struct lane_range lane_step(const struct vgpu_lanes *lanes, uint32_t number, void **args,
                            const int64_t *low, const int64_t *high,
                            const struct lane_range *result);

/* 0, 1 or either; how: enum vgpu_compare. */
struct lane_range lane_compare(struct lane_range a, struct lane_range b, int how);

/* Where the object lies: [*first, *end). */
void lane_object(const struct vgpu_lanes *lanes, void **args, uint64_t number, uint64_t *first,
                 uint64_t *end);

/* Whether a condition of the fast form holds with the steps' results; edge: guards need not. */
bool lane_demand_holds(const struct vgpu_lane_demand *demand, const struct lane_range *result,
                       bool edge);
/* Whether it does for these values of its step. */
bool lane_demand_takes(const struct vgpu_lane_demand *demand, const struct lane_range *r);
/* What it means that it does not. */
const char *lane_demand_reason(const struct vgpu_lane_demand *demand);

/* Whether the place can be reached. */
static inline bool lane_reaches(const struct lane_range *result, uint16_t place)
{
    return result[place].high != 0;
}

#endif
