/* SPDX-License-Identifier: MIT
 * op_flows.c: see op_flows.h.
 */
#include "op_flows.h"

#include <math.h>

#include "inject.h"
#include "kernel_time.h"
#include "op_costs.h"

/* Adds a flow of `moved` bytes that takes as long as `bytes`. */
static void add_weighed_flow(struct sender *s, struct op *op, uint64_t now_ps, struct route route,
                             uint64_t bytes, uint64_t moved)
{
    if (bytes == 0)
        return;
    op->clock.flows++;
    if (s->watch)
        s->watch(s->self, &route, moved);
    flows_add(s->flows, op, &route, bytes, now_ps);
}

static void add_flow(struct sender *s, struct op *op, uint64_t now_ps, struct route route,
                     uint64_t bytes)
{
    add_weighed_flow(s, op, now_ps, route, bytes, bytes);
}

/* ---- copies ---- */

static struct route copy_route(const struct sender *s, const struct op *op)
{
    struct route route =
        topology_route(s->topology, copy_path(op), op->from, op->to, copy_bytes(op));
    route.cap_bytes_s *= inject_rate(op->from, op->to);
    return route;
}

void send_copy(struct sender *s, struct op *op, uint64_t now_ps)
{
    const struct path_model *m = copy_model(s->topology, op);
    struct route route = copy_route(s, op);
    uint64_t first = copy_bytes(op);
    if (m->ramp_bytes > 0) {
        first = (double)first > m->ramp_bytes ? (uint64_t)m->ramp_bytes : first;
        route.cap_bytes_s = fmin(route.cap_bytes_s, m->ramp_bytes_s);
    }
    op->clock.later_bytes = copy_bytes(op) - first;
    add_flow(s, op, now_ps, route, first);
}

/* Starts the flow of the remaining bytes when the first, slower part of a copy has arrived. True:
 * there are some. */
bool send_later_bytes(struct sender *s, struct op *op, uint64_t now_ps)
{
    if (op->kind != OP_COPY || op->clock.later_bytes == 0)
        return false;
    uint64_t bytes = op->clock.later_bytes;
    op->clock.later_bytes = 0;
    add_flow(s, op, now_ps, copy_route(s, op), bytes);
    return true;
}

/* ---- kernels and memsets: flows to the memories that they access ---- */

static struct route memory_route(const struct sender *s, int device)
{
    return (struct route){.resource = {s->topology->memory[device]},
                          .length = 1,
                          .cap_bytes_s = s->topology->memory_bytes_s[device]};
}

static void send_to_memory(struct sender *s, struct op *op, uint64_t now_ps,
                           const struct vgpu_run_counts *c)
{
    add_weighed_flow(s, op, now_ps, memory_route(s, op->device),
                     whole_of(kernel_weighed_bytes(s->topology, op, c)),
                     kernel_moved_bytes(s->topology, op, c));
}

static void send_over_link(struct sender *s, struct op *op, uint64_t now_ps, int from, int to,
                           uint64_t bytes)
{
    if (bytes == 0)
        return;
    struct route route = topology_route(s->topology, PATH_PEER, from, to, bytes);
    route.cap_bytes_s =
        fmin(route.cap_bytes_s, s->topology->cost.kernel_peer_bytes_s) * inject_rate(from, to);
    add_flow(s, op, now_ps, route, bytes);
}

void send_counts(struct sender *s, struct op *op, uint64_t now_ps, const struct vgpu_run_counts *c)
{
    for (int m = 0; m < s->topology->info.device_count; m++) {
        if (m == op->device) {
            send_to_memory(s, op, now_ps, c);
            continue;
        }
        send_over_link(s, op, now_ps, m, op->device, c->read_moved[m]);
        send_over_link(s, op, now_ps, op->device, m, c->write_moved[m]);
    }
    uint64_t up = c->write_moved[VGPU_MAX_DEVICES], down = c->read_moved[VGPU_MAX_DEVICES];
    if (down)
        add_flow(s, op, now_ps, topology_route(s->topology, PATH_H2D_PINNED, -1, op->device, down),
                 down);
    if (up)
        add_flow(s, op, now_ps, topology_route(s->topology, PATH_D2H_PINNED, op->device, -1, up),
                 up);
}

void send_to_gpus(struct sender *s, struct op *op, uint64_t now_ps, uint32_t to, uint64_t bytes,
                  double bytes_s)
{
    unsigned parts = (unsigned)__builtin_popcount(to);
    struct route inside = memory_route(s, op->device);
    inside.cap_bytes_s = fmin(inside.cap_bytes_s, bytes_s);
    if (parts == 0)
        add_weighed_flow(s, op, now_ps, inside, bytes, 0);
    for (int device = 0; device < s->topology->info.device_count; device++)
        if (to & 1u << device) {
            struct route route =
                topology_route(s->topology, PATH_PEER, op->device, device, bytes / parts);
            route.cap_bytes_s = bytes_s / parts * inject_rate(op->device, device);
            add_flow(s, op, now_ps, route, bytes / parts);
        }
}

void send_memset(struct sender *s, struct op *op, uint64_t now_ps)
{
    if (op->to >= 0)
        add_flow(s, op, now_ps, memory_route(s, op->to), op->u.memset.bytes * op->u.memset.rows);
}
