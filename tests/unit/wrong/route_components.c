/* SPDX-License-Identifier: MIT
 * route_components.c: a mutant of vgpu/node/clock/route_components.c; see wrong.h.
 */
#include "wrong.h"

int wrong_route_components(const struct route *routes, int count, int *part)
{
    int parts = 0;
    for (int i = 0; i < count; i++) {
        part[i] = -1;
        for (int k = 0; k < i && part[i] < 0; k++)
            if (routes[k].resource[0] == routes[i].resource[0])
                part[i] = part[k];
        if (part[i] < 0)
            part[i] = parts++;
    }
    return parts;
}
