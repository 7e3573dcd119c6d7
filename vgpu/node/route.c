/* SPDX-License-Identifier: MIT
 * route.c: turns the described links into directed resources, and finds the way of a flow.
 *
 * Every link has one resource a direction; two flows share a resource exactly when hardware would
 * let them share the wire. A copy through the host goes up one GPU's PCIe and down the other's.
 */
#include "topology.h"

#include <stdio.h>
#include <string.h>

static int resource(struct topology *t, double bytes_s)
{
    t->rate_bytes_s[t->resource_count] = bytes_s;
    return t->resource_count++;
}

static const char *pair_label(const struct topology *t, int i, int j, const char *nvlink,
                              const char *pcie)
{
    if (i == j)
        return "X";
    if (t->port_out[i] >= 0 && t->port_out[j] >= 0)
        return nvlink;
    if (t->switch_of[i] >= 0 && t->switch_of[i] == t->switch_of[j])
        return "PIX";
    return t->socket_of[i] == t->socket_of[j] ? pcie : "SYS";
}

void topology_wire(struct topology *t, double pcie, double switches, double sockets, double nvlink,
                   const char *nvlink_label, const char *pcie_label)
{
    int n = t->info.device_count;
    t->resource_count = 0;
    for (int i = 0; i < n; i++) {
        t->pcie_up[i] = resource(t, pcie);
        t->pcie_down[i] = resource(t, pcie);
        t->port_out[i] = nvlink > 0 ? resource(t, nvlink) : -1;
        t->port_in[i] = nvlink > 0 ? resource(t, nvlink) : -1;
        t->memory[i] = resource(t, t->memory_bytes_s[i]);
        t->switch_up[i] = resource(t, switches); /* indexed by switch: never more than GPUs */
        t->switch_down[i] = resource(t, switches);
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            t->socket_link[a][b] = -1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int a = t->socket_of[i], b = t->socket_of[j];
            if (a >= 0 && b >= 0 && a != b && t->socket_link[a][b] < 0)
                t->socket_link[a][b] = resource(t, sockets);
            snprintf(t->info.pair[i][j].link, sizeof t->info.pair[i][j].link, "%s",
                     pair_label(t, i, j, nvlink_label, pcie_label));
        }
}

static void through(struct route *r, int resource)
{
    if (resource >= 0 && r->length < MAX_ROUTE)
        r->resource[r->length++] = resource;
}

static void up(const struct topology *t, struct route *r, int gpu)
{
    through(r, t->pcie_up[gpu]);
    if (t->switch_of[gpu] >= 0)
        through(r, t->switch_up[t->switch_of[gpu]]);
}

static void down(const struct topology *t, struct route *r, int gpu)
{
    if (t->switch_of[gpu] >= 0)
        through(r, t->switch_down[t->switch_of[gpu]]);
    through(r, t->pcie_down[gpu]);
}

static void across(const struct topology *t, struct route *r, int from, int to)
{
    int a = t->socket_of[from], b = t->socket_of[to];
    if (a >= 0 && b >= 0 && a != b)
        through(r, t->socket_link[a][b]);
}

static void peer(const struct topology *t, struct route *r, int from, int to)
{
    if (t->port_out[from] >= 0 && t->port_in[to] >= 0) {
        through(r, t->port_out[from]);
        through(r, t->port_in[to]);
    } else if (t->switch_of[from] >= 0 && t->switch_of[from] == t->switch_of[to]) {
        through(r, t->pcie_up[from]);
        through(r, t->pcie_down[to]);
    } else {
        up(t, r, from);
        across(t, r, from, to);
        down(t, r, to);
    }
}

static double cap(const struct path_model *m, uint64_t bytes)
{
    for (int i = 0; i < m->bands; i++)
        if ((double)bytes <= m->band[i].up_to_bytes)
            return m->band[i].bytes_s;
    return m->bytes_s;
}

struct route topology_route(const struct topology *t, enum path path, int from, int to,
                            uint64_t bytes)
{
    struct route r = {.cap_bytes_s = cap(&t->path[path], bytes)};
    switch (path) {
    case PATH_H2D_PINNED:
    case PATH_H2D_PAGEABLE:
        down(t, &r, to);
        break;
    case PATH_D2H_PINNED:
    case PATH_D2H_PAGEABLE:
        up(t, &r, from);
        break;
    case PATH_LOCAL:
        through(&r, t->memory[from]);
        break;
    case PATH_PEER:
        peer(t, &r, from, to);
        break;
    case PATH_STAGED:
        up(t, &r, from);
        across(t, &r, from, to);
        down(t, &r, to);
        break;
    case PATH_HOST:
    case PATH_COUNT:
        break;
    }
    return r;
}
