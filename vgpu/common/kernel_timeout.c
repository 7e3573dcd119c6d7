/* SPDX-License-Identifier: MIT
 * kernel_timeout.c: see kernel_timeout.h.
 */
#include "kernel_timeout.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "number.h"

enum { USUAL_S = 30, MOST_S = 86400 };

static const char timeout_variable[] = "VGPU_KERNEL_SECONDS";

int vgpu_kernel_seconds(void)
{
    uint64_t seconds = USUAL_S;
    vgpu_number(getenv(timeout_variable), 1, MOST_S, &seconds);
    return (int)seconds;
}

bool vgpu_kernel_seconds_are_right(char *error, size_t room)
{
    const char *text = getenv(timeout_variable);
    uint64_t seconds;
    if (!text || !*text || vgpu_number(text, 1, MOST_S, &seconds))
        return true;
    snprintf(error, room, "%s=%s is not valid: expected whole seconds from 1 to %d, such as 30",
             timeout_variable, text, MOST_S);
    return false;
}
