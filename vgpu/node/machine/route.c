/* SPDX-License-Identifier: MIT
 * route.c: turns the links of a description into directed resources, and finds the routes of flows.
 *
 * Every link has one resource for each direction; two flows share a resource exactly if they share
 * the wire on hardware. A copy through the host uses one GPU's PCIe link upwards and the other's
 * downwards.
 */
#include "topology.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Makes a resource with a formatted name; returns -1, which limits nothing, for a rate of 0. */
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
    t->pcie_both[i] = resource(t, w->pcie_both_gbs, "GPU%d PCIe both ways", i);
    t->staging[i] = resource(t, w->staged_gbs, "GPU%d staged both ways", i);
    t->port_out[i] = resource(t, w->port_gbs, "GPU%d NVLink out", i);
    t->port_in[i] = resource(t, w->port_gbs, "GPU%d NVLink in", i);
    t->memory[i] = resource(t, t->memory_bytes_s[i] / 1e9, "GPU%d memory", i);
    for (int j = 0; j < t->info.device_count; j++)
        t->nvlink[i][j] = resource(t, w->links[i][j] * w->link_gbs, "GPU%d-GPU%d NVLink", i, j);
}

/* Switches and sockets are numbered; there are at most as many as GPUs. */
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
    t->host_written = resource(t, w->memory_written_gbs, "host memory written");
    t->host_read = resource(t, w->memory_read_gbs, "host memory read");
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            snprintf(t->info.pair[i][j].link, sizeof t->info.pair[i][j].link, "%s",
                     pair_label(t, i, j, w));
}

static void add_resource(struct route *r, int resource)
{
    if (resource >= 0 && r->length < MAX_ROUTE)
        r->resource[r->length++] = resource;
}

static void add_links_up(const struct topology *t, struct route *r, int gpu)
{
    add_resource(r, t->pcie_up[gpu]);
    if (t->switch_of[gpu] >= 0)
        add_resource(r, t->switch_up[t->switch_of[gpu]]);
}

static void add_links_down(const struct topology *t, struct route *r, int gpu)
{
    if (t->switch_of[gpu] >= 0)
        add_resource(r, t->switch_down[t->switch_of[gpu]]);
    add_resource(r, t->pcie_down[gpu]);
}

static void add_socket_link(const struct topology *t, struct route *r, int from, int to)
{
    if (from >= 0 && to >= 0 && from != to)
        add_resource(r, t->socket_link[from][to]);
}

/* The program and its memory are on the first socket. */
#define HOST_SOCKET 0

static void add_route_to_host(const struct topology *t, struct route *r, int gpu)
{
    add_links_up(t, r, gpu);
    add_resource(r, t->pcie_both[gpu]);
    if (t->socket_of[gpu] >= 0)
        add_resource(r, t->root_up[t->socket_of[gpu]]);
    add_socket_link(t, r, t->socket_of[gpu], HOST_SOCKET);
    add_resource(r, t->host_written);
    add_resource(r, t->host_memory);
}

static void add_route_from_host(const struct topology *t, struct route *r, int gpu)
{
    add_resource(r, t->host_memory);
    add_resource(r, t->host_read);
    add_socket_link(t, r, HOST_SOCKET, t->socket_of[gpu]);
    if (t->socket_of[gpu] >= 0)
        add_resource(r, t->root_down[t->socket_of[gpu]]);
    add_resource(r, t->pcie_both[gpu]);
    add_links_down(t, r, gpu);
}

static void add_peer_route(const struct topology *t, struct route *r, int from, int to)
{
    if (t->port_out[from] >= 0) {
        add_resource(r, t->port_out[from]);
        add_resource(r, t->port_in[to]);
    } else if (t->nvlink[from][to] >= 0) {
        add_resource(r, t->nvlink[from][to]);
    } else if (t->switch_of[from] >= 0 && t->switch_of[from] == t->switch_of[to]) {
        add_resource(r, t->pcie_up[from]);
        add_resource(r, t->pcie_down[to]);
    } else {
        add_links_up(t, r, from);
        add_socket_link(t, r, t->socket_of[from], t->socket_of[to]);
        add_links_down(t, r, to);
    }
}

static double rate_cap(const struct path_model *m, uint64_t bytes)
{
    for (int i = 0; i < m->bands; i++)
        if ((double)bytes <= m->band[i].up_to_bytes)
            return m->band[i].bytes_s;
    return m->bytes_s;
}

struct route topology_route(const struct topology *t, enum path path, int from, int to,
                            uint64_t bytes)
{
    struct route r = {.cap_bytes_s = rate_cap(&t->path[path], bytes)};
    switch (path) {
    case PATH_H2D_PINNED:
    case PATH_H2D_PAGEABLE:
        add_route_from_host(t, &r, to);
        break;
    case PATH_D2H_PINNED:
    case PATH_D2H_PAGEABLE:
        add_route_to_host(t, &r, from);
        break;
    case PATH_LOCAL:
        add_resource(&r, t->memory[from]);
        break;
    case PATH_PEER:
        add_peer_route(t, &r, from, to);
        break;
    case PATH_STAGED:
        add_resource(&r, t->staging[from]);
        add_links_up(t, &r, from);
        add_socket_link(t, &r, t->socket_of[from], t->socket_of[to]);
        add_links_down(t, &r, to);
        add_resource(&r, t->staging[to]);
        break;
    case PATH_HOST:
    case PATH_COUNT:
        break;
    }
    return r;
}
