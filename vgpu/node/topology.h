/* SPDX-License-Identifier: MIT
 * topology.h: what a node is made of: its GPUs, its links as directed resources, and what an
 * operation on it costs. Read from a node description (vgpu/nodes/NAME.json) once at start.
 */
#ifndef VGPU_TOPOLOGY_H
#define VGPU_TOPOLOGY_H

#include <stdint.h>

#include "protocol.h"

#define MAX_RESOURCES 256
#define MAX_ROUTE 10
#define PS_PER_US 1000000ull

enum path {
    PATH_H2D_PINNED,
    PATH_H2D_PAGEABLE,
    PATH_D2H_PINNED,
    PATH_D2H_PAGEABLE,
    PATH_LOCAL,
    PATH_PEER,   /* one GPU to another, direct */
    PATH_STAGED, /* one GPU to another, through host memory, by the driver */
    PATH_HOST,
    PATH_COUNT
};

/* The directed resources that a flow occupies, how fast it can be alone, and how long nothing
 * arrives at first. */
struct route {
    int resource[MAX_ROUTE];
    int length;
    double cap_bytes_s;
    uint64_t latency_ps;
};

struct costs {
    uint64_t local_ps, enqueue_ps, launch_ps, record_ps, query_ps, wake_ps, malloc_ps, free_ps;
    uint64_t kernel_delay_ps, kernel_floor_ps;
};

struct topology {
    struct vgpu_node_info info;
    struct costs cost;
    double memory_bytes_s[VGPU_MAX_DEVICES]; /* of a kernel on its own memory */
    double rate_bytes_s[MAX_RESOURCES];
    int resource_count;
    /* the rest is topology.c's and route.c's */
    struct {
        double cap_bytes_s;
        uint64_t latency_ps;
    } path[PATH_COUNT];
    int port_out[VGPU_MAX_DEVICES], port_in[VGPU_MAX_DEVICES]; /* NVLink, -1: none */
    int pcie_up[VGPU_MAX_DEVICES], pcie_down[VGPU_MAX_DEVICES];
    int switch_of[VGPU_MAX_DEVICES], socket_of[VGPU_MAX_DEVICES]; /* -1: none */
    int switch_up[VGPU_MAX_DEVICES], switch_down[VGPU_MAX_DEVICES];
    int socket_link[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES]; /* between sockets, directed */
    int memory[VGPU_MAX_DEVICES];
};

/* Reads node `name`: a path when it holds a '/', else NAME.json in `directory`. 0, or -1 with a
 * sentence in `error` naming file and key. */
int topology_load(struct topology *t, const char *directory, const char *name, char *error,
                  int error_room);

/* The route of `path` from GPU `from` to GPU `to` (-1 where that side is the host). */
struct route topology_route(const struct topology *t, enum path path, int from, int to);

/* Fills info.pair[][].link and the resources; called by topology_load. */
void topology_wire(struct topology *t, double pcie, double switches, double sockets, double nvlink,
                   const char *nvlink_label, const char *pcie_label);

#endif
