/* SPDX-License-Identifier: MIT
 * route_components.h: connected components of routes: those that share a resource, directly or
 * through others (union-find).
 */
#ifndef VGPU_ROUTE_COMPONENTS_H
#define VGPU_ROUTE_COMPONENTS_H

#include "topology.h"

/* Stores the component of each of `count` routes in part[count], numbered from 0. Routes that share
 * a resource, directly or through other routes, are in the same component; flows of different
 * components do not affect each other's rates. A route without resources is a component of its own.
 * Returns the number of components. */
int route_components(const struct route *routes, int count, int *part);

#endif
