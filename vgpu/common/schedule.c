/* SPDX-License-Identifier: MIT
 * schedule.c: see schedule.h.
 */
#include "schedule.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char variable[] = "VGPU_SCHEDULE";

/* False: it is no number. */
static bool parse(const char *text, uint64_t *seed)
{
    char *end;
    *seed = 0;
    if (!text || !*text)
        return true;
    errno = 0;
    *seed = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0;
}

uint64_t vgpu_schedule(void)
{
    uint64_t seed;
    return parse(getenv(variable), &seed) ? seed : 0;
}

bool vgpu_schedule_is_right(char *error, size_t room)
{
    uint64_t seed;
    if (parse(getenv(variable), &seed))
        return true;
    snprintf(error, room,
             "%s=%s is no seed: a whole number, 1 or more, as 7; 0 or nothing for the usual orders",
             variable, getenv(variable));
    return false;
}
