/* SPDX-License-Identifier: MIT
 * schedule.c: see schedule.h.
 */
#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

static const char schedule_variable[] = "VGPU_SCHEDULE";

/* False: neither a number nor `weak`, or `weak:` and a number. */
static bool parse_seed(const char *text, uint64_t *seed, bool *weak)
{
    *seed = 0;
    *weak = text && strncmp(text, "weak", 4) == 0;
    if (*weak && text[4] == '\0')
        *seed = 1;
    else if (*weak)
        return text[4] == ':' && vgpu_number(text + 5, 1, UINT64_MAX, seed);
    return !text || !*text || *weak || vgpu_number(text, 0, UINT64_MAX, seed);
}

uint64_t vgpu_schedule(void)
{
    uint64_t seed;
    bool weak;
    return parse_seed(getenv(schedule_variable), &seed, &weak) ? seed : 0;
}

bool vgpu_schedule_is_weak(void)
{
    uint64_t seed;
    bool weak;
    return parse_seed(getenv(schedule_variable), &seed, &weak) && weak;
}

bool vgpu_schedule_is_right(char *error, size_t room)
{
    uint64_t seed;
    bool weak;
    if (parse_seed(getenv(schedule_variable), &seed, &weak))
        return true;
    snprintf(error, room,
             "%s=%s is not valid: expected a seed (a whole number, 1 or more, such as 7), 0 or "
             "nothing for the usual orders, or weak or weak:7 for loads of older values, too",
             schedule_variable, getenv(schedule_variable));
    return false;
}
