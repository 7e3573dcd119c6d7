/* SPDX-License-Identifier: MIT
 * sending.c: what operations put on the links, and how long they take before they do; see
 * sending.h.
 */
#include "sending.h"

#include <math.h>

#include "flow.h"
#include "inject.h"
#include "process.h"
#include "sim.h"
#include "timeline.h"

static const struct topology *topology;

void sending_start(const struct topology *t)
{
    topology = t;
}

/* `moved` bytes, which take as long as `bytes`. */
static void add_weighed_flow(struct op *op, struct route route, uint64_t bytes, uint64_t moved)
{
    if (bytes == 0)
        return;
    op->flows++;
    timeline_bytes(&route, moved);
    flow_add(op, &route, bytes, sim_now());
}

static void add_flow(struct op *op, struct route route, uint64_t bytes)
{
    add_weighed_flow(op, route, bytes, bytes);
}

/* ---- copies ---- */

void sending_ends(const struct op *op, int *from, int *to)
{
    *from = process_device_of(op->u.copy.src);
    *to = process_device_of(op->u.copy.dst);
}

static enum path path_of(const struct op *op, int *from, int *to)
{
    const struct vgpu_copy *c = &op->u.copy;
    sending_ends(op, from, to);
    if (*from < 0 && *to < 0)
        return PATH_HOST;
    if (*from < 0)
        return c->src_pageable ? PATH_H2D_PAGEABLE : PATH_H2D_PINNED;
    if (*to < 0)
        return c->dst_pageable ? PATH_D2H_PAGEABLE : PATH_D2H_PINNED;
    if (*from == *to)
        return PATH_LOCAL;
    return op->direct ? PATH_PEER : PATH_STAGED;
}

static uint64_t copy_bytes(const struct op *op)
{
    return op->u.copy.bytes * op->u.copy.rows;
}

const struct path_model *sim_path(const struct op *op)
{
    int from, to;
    return &topology->path[path_of(op, &from, &to)];
}

static struct route copy_route(const struct op *op)
{
    int from, to;
    enum path path = path_of(op, &from, &to);
    struct route route = topology_route(topology, path, from, to, copy_bytes(op));
    route.cap_bytes_s *= inject_rate(from, to);
    return route;
}

uint64_t copy_latency(const struct op *op)
{
    const struct path_model *m = sim_path(op);
    int from, to;
    path_of(op, &from, &to);
    uint64_t idle_ps = (double)copy_bytes(op) <= m->inline_bytes ? m->inline_idle_ps : m->idle_ps;
    return m->latency_ps + (op_ready_ps(op) <= op->issue_ps ? idle_ps : 0) +
           inject_delay_ps(from, to);
}

void send_copy(struct op *op)
{
    const struct path_model *m = sim_path(op);
    struct route route = copy_route(op);
    uint64_t first = copy_bytes(op);
    if (m->ramp_bytes > 0) {
        first = (double)first > m->ramp_bytes ? (uint64_t)m->ramp_bytes : first;
        route.cap_bytes_s = fmin(route.cap_bytes_s, m->ramp_bytes_s);
    }
    op->later_bytes = copy_bytes(op) - first;
    add_flow(op, route, first);
}

/* True: the copy has come to speed, and its other bytes are on their way. */
bool send_later_bytes(struct op *op)
{
    if (op->kind != OP_COPY || op->later_bytes == 0)
        return false;
    uint64_t bytes = op->later_bytes;
    op->later_bytes = 0;
    add_flow(op, copy_route(op), bytes);
    return true;
}

/* ---- kernels and memsets: flows on the memories they touch ---- */

static struct route memory_route(int device)
{
    return (struct route){.resource = {topology->memory[device]},
                          .length = 1,
                          .cap_bytes_s = topology->memory_bytes_s[device]};
}

/* What a kernel reads beyond all that its arguments point to, it reads again, in whatever block:
 * out of L2, where that fits into half of it (each half of L2 keeps what its processors read). */
static uint64_t read_again(const struct op *op, uint64_t read)
{
    uint64_t reach = op->u.kernel.reach_bytes;
    if (topology->cost.kernel_l2_bytes_s <= 0 || reach == 0 || read <= reach ||
        reach > topology->info.device[op->device].l2_bytes / 2)
        return 0;
    return read - reach;
}

static void send_to_memory(struct op *op, int device, uint64_t read, uint64_t written)
{
    uint64_t again = read_again(op, read), moved = read - again + written;
    double weighed = (double)written * topology->cost.kernel_write_weight;
    if (again)
        weighed +=
            (double)again * topology->memory_bytes_s[device] / topology->cost.kernel_l2_bytes_s;
    add_weighed_flow(op, memory_route(device), read - again + (uint64_t)weighed, moved);
}

static void send_over_link(struct op *op, int from, int to, uint64_t bytes)
{
    struct route route = topology_route(topology, PATH_PEER, from, to, bytes);
    route.cap_bytes_s =
        fmin(route.cap_bytes_s, topology->cost.kernel_peer_bytes_s) * inject_rate(from, to);
    add_flow(op, route, bytes);
}

void send_counts(struct op *op, const struct vgpu_run_counts *c)
{
    for (int m = 0; m < topology->info.device_count; m++) {
        if (m == op->device) {
            send_to_memory(op, m, c->read_moved[m], c->write_moved[m]);
            continue;
        }
        send_over_link(op, m, op->device, c->read_moved[m]);
        send_over_link(op, op->device, m, c->write_moved[m]);
    }
    uint64_t up = c->write_moved[VGPU_MAX_DEVICES], down = c->read_moved[VGPU_MAX_DEVICES];
    add_flow(op, topology_route(topology, PATH_H2D_PINNED, -1, op->device, down), down);
    add_flow(op, topology_route(topology, PATH_D2H_PINNED, op->device, -1, up), up);
}

void send_memset(struct op *op)
{
    int device = process_device_of(op->u.memset.dst);
    if (device >= 0)
        add_flow(op, memory_route(device), op->u.memset.bytes * op->u.memset.rows);
}

static double clock_khz_of(int device)
{
    return topology->info.device[device].clock_khz * inject_clock(device);
}

/* The processors share the blocks; the one that has the most takes the longest. */
uint64_t kernel_conflict_ps(const struct op *op)
{
    const uint32_t *grid = op->u.kernel.launch.grid;
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    uint64_t processors = (uint64_t)topology->info.device[op->device].sm_count;
    uint64_t most = (blocks + processors - 1) / processors;
    if (!op->counts || op->counts->conflicts == 0)
        return 0;
    double cycles = (double)op->counts->conflicts / (double)blocks * (double)most;
    return (uint64_t)(cycles / clock_khz_of(op->device) * 1e9);
}

/* The furthest memory a kernel touches sets how long it takes at least. */
uint64_t kernel_latency(const struct op *op)
{
    const struct vgpu_run_counts *c = op->counts;
    uint64_t least = topology->cost.kernel_floor_ps, far = 0;
    for (int m = 0; m < topology->info.device_count; m++)
        if (m != op->device && c->read_bytes[m] + c->write_bytes[m] > 0)
            far = topology->path[PATH_PEER].latency_ps;
    double clock = inject_clock(op->device);
    uint64_t spun = (uint64_t)((double)c->cycles / clock_khz_of(op->device) * 1e9);
    least = (uint64_t)((double)least / clock) + far;
    if (op->graph != VGPU_GRAPH_NONE) {
        uint64_t own_ps = op->graph == VGPU_GRAPH_NEXT ? topology->cost.graph_next_ps
                                                       : topology->cost.graph_first_ps;
        own_ps = (uint64_t)((double)own_ps / clock);
        return far + (spun > own_ps ? spun : own_ps) + kernel_conflict_ps(op);
    }
    return topology->cost.kernel_delay_ps + (spun > least ? spun : least) + kernel_conflict_ps(op);
}
