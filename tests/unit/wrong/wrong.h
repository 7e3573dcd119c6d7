/* SPDX-License-Identifier: MIT
 * wrong.h: rooms of the node with a mistake in them, which the checks of this folder must reject.
 */
#ifndef TEST_UNIT_WRONG_H
#define TEST_UNIT_WRONG_H

#include "resource_pruning.h"
#include "share.h"

/* Every link is split evenly, and what a flow leaves because another link holds it up is lost. */
void wrong_share_rates(struct sharing *s, const double *capacity_bytes_s, int resource_count,
                       struct group *groups, const int *active, int active_count, bool same);
/* Only the narrowest resource of a route counts, whoever else may use the others. */
struct route wrong_prune_route(const struct pruning *narrowing, const double *capacity_bytes_s,
                               const struct route *route);
/* Only routes that begin with the same resource share anything. */
int wrong_route_components(const struct route *routes, int count, int *part);

#endif
