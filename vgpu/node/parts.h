/* SPDX-License-Identifier: MIT
 * parts.h: which routes have to do with each other.
 */
#ifndef VGPU_PARTS_H
#define VGPU_PARTS_H

#include "topology.h"

/* Numbers the parts that `count` routes fall into, from 0 on, in part[count]: routes that share a
 * resource, directly or through others, are of one part, so no flow of another part changes their
 * rates. A route without resources has a part of its own. Returns how many there are. */
int parts_of_routes(const struct route *routes, int count, int *part);

#endif
