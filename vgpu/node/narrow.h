/* SPDX-License-Identifier: MIT
 * narrow.h: which resources of a route can ever limit its flows. A GPU's PCIe link whose every flow
 * goes through its switch's, too, and that is no narrower, never does.
 */
#ifndef VGPU_NARROW_H
#define VGPU_NARROW_H

#include "topology.h"

/* A route is in use from now on, so others may have to be narrowed anew. */
void narrow_add(const struct route *route);

/* `route`, which was added, without those of its resources that limit nobody as long as nothing is
 * in use that was not added: no rate changes when they are left out. Capacities by resource. */
struct route narrow_route(const double *capacity_bytes_s, const struct route *route);

#endif
