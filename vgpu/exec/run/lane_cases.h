/* SPDX-License-Identifier: MIT
 * lane_cases.h: case by case: what intervals (lane_ranges.h) cannot show of an index such as
 * 2 * t - (t & (d - 1)) is looked at for each threadIdx.x and each number that a loop counts
 * through.
 */
#ifndef VGPU_EXEC_LANE_CASES_H
#define VGPU_EXEC_LANE_CASES_H

#include "lane_ranges.h"

struct lane_question {
    const struct vgpu_lanes *lanes;
    void **args;
    const int64_t *low, *high; /* as for lane_ranges */
    uint16_t step, place;      /* the step in question; where it cannot be reached, all is well */
    bool (*holds)(const struct lane_range *r, const void *of);
    const void *of;
};

/* Whether it holds in all cases; *all: the step's values. False, too, if there are too many, or the
 * answer would depend on the block. */
bool lane_holds_in_cases(const struct lane_question *q, struct lane_range *all);

#endif
