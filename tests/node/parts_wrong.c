/* SPDX-License-Identifier: MIT
 * parts_wrong.c: a mutant of vgpu/node/parts.c that node.share must reject: only routes that begin
 * with the same resource have to do with each other.
 */
#include "parts.h"

int parts_of_routes(const struct route *routes, int count, int *part)
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
