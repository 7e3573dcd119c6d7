/* SPDX-License-Identifier: MIT
 * route_components.h: connected components of routes: those that share a resource, directly or
 * through others (union-find).
 */
#ifndef VGPU_ROUTE_COMPONENTS_H
#define VGPU_ROUTE_COMPONENTS_H

#include "topology.h"

/* Numbers the parts that `count` routes fall into, from 0 on, in part[count]: routes that share a
 * resource, directly or through others, are of one part, so no flow of another part changes their
 * rates. A route without resources has a part of its own. Returns how many there are. */
int route_components(const struct route *routes, int count, int *part);

#endif
