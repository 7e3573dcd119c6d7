/* SPDX-License-Identifier: MIT
 * route_components.c: see route_components.h. Union-find over resources, joined route by route
 * (Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm", JACM 1975).
 */
#include "route_components.h"

/* The representative of the resource's set. */
static int find_representative(int *leads_to, int resource)
{
    while (leads_to[resource] != resource)
        resource = leads_to[resource] = leads_to[leads_to[resource]];
    return resource;
}

int route_components(const struct route *routes, int count, int *part)
{
    int leads_to[MAX_RESOURCES], number[MAX_RESOURCES], parts = 0;
    for (int r = 0; r < MAX_RESOURCES; r++) {
        leads_to[r] = r;
        number[r] = -1;
    }
    for (int i = 0; i < count; i++)
        for (int k = 1; k < routes[i].length; k++)
            leads_to[find_representative(leads_to, routes[i].resource[k])] =
                find_representative(leads_to, routes[i].resource[0]);
    for (int i = 0; i < count; i++) {
        int alone = -1, *known = &alone;
        if (routes[i].length > 0)
            known = &number[find_representative(leads_to, routes[i].resource[0])];
        part[i] = *known = *known < 0 ? parts++ : *known;
    }
    return parts;
}
