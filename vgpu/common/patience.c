/* SPDX-License-Identifier: MIT
 * patience.c: see patience.h.
 */
#include "patience.h"

#include <stdlib.h>

enum { USUAL_S = 30, MOST_S = 86400 };

int vgpu_kernel_seconds(void)
{
    const char *asked = getenv("VGPU_KERNEL_SECONDS");
    char *end;
    long seconds = asked ? strtol(asked, &end, 10) : 0;
    return asked && *end == '\0' && seconds >= 1 && seconds <= MOST_S ? (int)seconds : USUAL_S;
}
