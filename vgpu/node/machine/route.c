/* SPDX-License-Identifier: MIT
 * route.c: turns the described links into directed resources, and finds the way of a flow.
 *
 * Every link has one resource a direction; two flows share a resource exactly when hardware would
 * let them share the wire. A copy through the host goes up one GPU's PCIe and down the other's.
 */
#include "topology.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A new resource, called as the format says; -1, which limits nothing, for a rate of 0. */
__attribute__((format(printf, 3, 4))) static int resource(struct topology *t, double gbs,
                                                          const char *format, ...)
{
    if (gbs <= 0)
        return -1;
    va_list list;
    va_start(list, format);
    vsnprintf(t->resource_name[t->resource_count], sizeof t->resource_name[0], format, list);
    va_end(list);
    t->rate_bytes_s[t->resource_count] = gbs * 1e9;
    return t->resource_count++;
}

static const char *pair_label(const struct topology *t, int i, int j, const struct wires *w)
{
    static char linked[16];
    if (i == j)
        return "X";
    if (t->port_out[i] >= 0)
        return w->nvlink_label;
    if (w->links[i][j]) {
        snprintf(linked, sizeof linked, "NV%d", w->links[i][j]);
        return linked;
    }
    if (t->switch_of[i] >= 0 && t->switch_of[i] == t->switch_of[j])
        return "PIX";
    return t->socket_of[i] == t->socket_of[j] ? w->pcie_label : "SYS";
}

static void wire_gpu(struct topology *t, int i, const struct wires *w)
{
    t->pcie_up[i] = resource(t, w->pcie_gbs, "GPU%d PCIe up", i);
    t->pcie_down[i] = resource(t, w->pcie_gbs, "GPU%d PCIe down", i);
    t->port_out[i] = resource(t, w->port_gbs, "GPU%d NVLink out", i);
    t->port_in[i] = resource(t, w->port_gbs, "GPU%d NVLink in", i);
    t->memory[i] = resource(t, t->memory_bytes_s[i] / 1e9, "GPU%d memory", i);
    for (int j = 0; j < t->info.device_count; j++)
        t->nvlink[i][j] = resource(t, w->links[i][j] * w->link_gbs, "GPU%d-GPU%d NVLink", i, j);
}

/* Switches and sockets have numbers, as many as there are GPUs at most. */
static void wire_switch(struct topology *t, int s, const struct wires *w)
{
    bool there = false;
    for (int i = 0; i < t->info.device_count; i++)
        there = there || t->switch_of[i] == s;
    t->switch_up[s] = resource(t, there ? w->switch_gbs : 0, "switch %d up", s);
    t->switch_down[s] = resource(t, there ? w->switch_gbs : 0, "switch %d down", s);
}

static void wire_socket(struct topology *t, int s, const struct wires *w)
{
    int last = -1;
    for (int i = 0; i < t->info.device_count; i++)
        last = t->socket_of[i] > last ? t->socket_of[i] : last;
    t->root_up[s] = resource(t, s <= last ? w->root_gbs : 0, "root complex %d up", s);
    t->root_down[s] = resource(t, s <= last ? w->root_gbs : 0, "root complex %d down", s);
    for (int other = 0; other < t->info.device_count; other++)
        t->socket_link[s][other] =
            resource(t, s != other && s <= last && other <= last ? w->socket_gbs : 0,
                     "socket %d to %d", s, other);
}

void topology_wire(struct topology *t, const struct wires *w)
{
    int n = t->info.device_count;
    t->resource_count = 0;
    for (int i = 0; i < n; i++)
        wire_gpu(t, i, w);
    for (int i = 0; i < n; i++)
        wire_switch(t, i, w);
    for (int i = 0; i < n; i++)
        wire_socket(t, i, w);
    t->host_memory = resource(t, w->memory_gbs, "host memory");
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            snprintf(t->info.pair[i][j].link, sizeof t->info.pair[i][j].link, "%s",
                     pair_label(t, i, j, w));
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
    if (from >= 0 && to >= 0 && from != to)
        through(r, t->socket_link[from][to]);
}

/* The program, and the memory it allocates, are on the first socket. */
#define HOST_SOCKET 0

static void to_host(const struct topology *t, struct route *r, int gpu)
{
    up(t, r, gpu);
    if (t->socket_of[gpu] >= 0)
        through(r, t->root_up[t->socket_of[gpu]]);
    across(t, r, t->socket_of[gpu], HOST_SOCKET);
    through(r, t->host_memory);
}

static void from_host(const struct topology *t, struct route *r, int gpu)
{
    through(r, t->host_memory);
    across(t, r, HOST_SOCKET, t->socket_of[gpu]);
    if (t->socket_of[gpu] >= 0)
        through(r, t->root_down[t->socket_of[gpu]]);
    down(t, r, gpu);
}

static void peer(const struct topology *t, struct route *r, int from, int to)
{
    if (t->port_out[from] >= 0) {
        through(r, t->port_out[from]);
        through(r, t->port_in[to]);
    } else if (t->nvlink[from][to] >= 0) {
        through(r, t->nvlink[from][to]);
    } else if (t->switch_of[from] >= 0 && t->switch_of[from] == t->switch_of[to]) {
        through(r, t->pcie_up[from]);
        through(r, t->pcie_down[to]);
    } else {
        up(t, r, from);
        across(t, r, t->socket_of[from], t->socket_of[to]);
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
        from_host(t, &r, to);
        break;
    case PATH_D2H_PINNED:
    case PATH_D2H_PAGEABLE:
        to_host(t, &r, from);
        break;
    case PATH_LOCAL:
        through(&r, t->memory[from]);
        break;
    case PATH_PEER:
        peer(t, &r, from, to);
        break;
    case PATH_STAGED:
        up(t, &r, from);
        across(t, &r, t->socket_of[from], t->socket_of[to]);
        down(t, &r, to);
        break;
    case PATH_HOST:
    case PATH_COUNT:
        break;
    }
    return r;
}
