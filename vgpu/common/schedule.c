/* SPDX-License-Identifier: MIT
 * schedule.c: see schedule.h.
 */
#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>

#include "number.h"

static const char schedule_variable[] = "VGPU_SCHEDULE";

/* False: not a number. */
static bool parse_seed(const char *text, uint64_t *seed)
{
    *seed = 0;
    return !text || !*text || vgpu_number(text, 0, UINT64_MAX, seed);
}

uint64_t vgpu_schedule(void)
{
    uint64_t seed;
    return parse_seed(getenv(schedule_variable), &seed) ? seed : 0;
}

bool vgpu_schedule_is_right(char *error, size_t room)
{
    uint64_t seed;
    if (parse_seed(getenv(schedule_variable), &seed))
        return true;
    snprintf(error, room,
             "%s=%s is no seed: a whole number, 1 or more, as 7; 0 or nothing for the usual orders",
             schedule_variable, getenv(schedule_variable));
    return false;
}
