/* SPDX-License-Identifier: MIT
 * sim.c: see sim.h. Two kinds of events: an operation's phase is over (a heap by time, then by
 * order of issue), and a flow has arrived (flow.c).
 */
#include "sim.h"

#include <math.h>
#include <stdlib.h>

#include "agenda.h"
#include "cost.h"
#include "flow.h"
#include "process.h"
#include "timeline.h"
#include "trace.h"

static const struct topology *topology;
static int aside_count, aside_room;
static uint64_t now;
static struct op *blocked, *passed_by; /* a kernel that polls: the clock is at its start; goes on */
static struct op **aside;              /* kernels that began before `now`, and poll */

void sim_start(const struct topology *t)
{
    topology = t;
    flow_start(t);
}

uint64_t sim_now(void)
{
    return now;
}

/* When all that `op` depends on is finished its start is known. */
static uint64_t start_of(const struct op *op)
{
    return op->issue_ps > op->ready_ps ? op->issue_ps : op->ready_ps;
}

/* A mark takes no time: its end is known now, even where the clock has not come so far. A wait for
 * an idle stream therefore lets no time pass, and nothing else happen. A list instead of
 * recursion: chains of marks can be long. */
static void finish_marks(struct op *op)
{
    static struct op **marks;
    static int marks_count, marks_room;
    static bool draining;
    if (marks_count == marks_room) {
        marks_room = marks_room ? 2 * marks_room : 64;
        marks = realloc(marks, (size_t)marks_room * sizeof *marks);
        if (!marks)
            abort();
    }
    marks[marks_count++] = op;
    if (draining)
        return;
    draining = true;
    while (marks_count) {
        struct op *mark = marks[--marks_count];
        mark->start_ps = start_of(mark);
        op_finished(mark, mark->start_ps);
    }
    draining = false;
}

void sim_ready(struct op *op)
{
    uint64_t at = start_of(op);
    cost_enter();
    if (op->kind == OP_MARK)
        finish_marks(op);
    else
        agenda_push(at > now ? at : now, op, PHASE_START);
    cost_leave();
}

static void finish(struct op *op)
{
    cost_operation();
    trace_operation(op, now);
    op_finished(op, now);
}

/* `moved` bytes, which take as long as `bytes`. */
static void add_weighed_flow(struct op *op, struct route route, uint64_t bytes, uint64_t moved)
{
    if (bytes == 0)
        return;
    op->flows++;
    timeline_bytes(&route, moved);
    flow_add(op, &route, bytes, now);
}

static void add_flow(struct op *op, struct route route, uint64_t bytes)
{
    add_weighed_flow(op, route, bytes, bytes);
}

/* ---- copies ---- */

static enum path path_of(const struct op *op, int *from, int *to)
{
    const struct vgpu_copy *c = &op->u.copy;
    *from = process_device_of(c->src);
    *to = process_device_of(c->dst);
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
    return topology_route(topology, path, from, to, copy_bytes(op));
}

static uint64_t copy_latency(const struct op *op)
{
    const struct path_model *m = sim_path(op);
    uint64_t idle_ps = (double)copy_bytes(op) <= m->inline_bytes ? m->inline_idle_ps : m->idle_ps;
    return m->latency_ps + (op->ready_ps <= op->issue_ps ? idle_ps : 0);
}

static void send_copy(struct op *op)
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
static bool send_later_bytes(struct op *op)
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

static void send_to_memory(struct op *op, int device, uint64_t read, uint64_t written)
{
    uint64_t weighed = (uint64_t)((double)written * topology->cost.kernel_write_weight);
    add_weighed_flow(op, memory_route(device), read + weighed, read + written);
}

static void send_over_link(struct op *op, int from, int to, uint64_t bytes)
{
    struct route route = topology_route(topology, PATH_PEER, from, to, bytes);
    route.cap_bytes_s = fmin(route.cap_bytes_s, topology->cost.kernel_peer_bytes_s);
    add_flow(op, route, bytes);
}

static void send_kernel(struct op *op)
{
    const struct vgpu_run_counts *c = op->counts;
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

/* The furthest memory a kernel touches sets how long it takes at least. */
static uint64_t kernel_latency(const struct op *op)
{
    const struct vgpu_run_counts *c = op->counts;
    uint64_t least = topology->cost.kernel_floor_ps, far = 0;
    for (int m = 0; m < topology->info.device_count; m++)
        if (m != op->device && c->read_bytes[m] + c->write_bytes[m] > 0)
            far = topology->path[PATH_PEER].latency_ps;
    uint64_t clock_khz = (uint64_t)topology->info.device[op->device].clock_khz;
    uint64_t spun = (uint64_t)((double)c->cycles / (double)clock_khz * 1e9);
    least += far;
    if (op->graph != VGPU_GRAPH_NONE) {
        uint64_t own_ps = op->graph == VGPU_GRAPH_NEXT ? topology->cost.graph_next_ps
                                                       : topology->cost.graph_first_ps;
        return far + (spun > own_ps ? spun : own_ps);
    }
    return topology->cost.kernel_delay_ps + (spun > least ? spun : least);
}

/* What the operation does to memory is not the clock's. */
static enum progress carry_out(struct op *op)
{
    cost_pause();
    enum progress progress = order_carry_out(op);
    cost_resume();
    return progress;
}

static enum progress begin_kernel(struct op *op)
{
    if (carry_out(op) == PROGRESS_BLOCKED)
        return PROGRESS_BLOCKED;
    agenda_push(now + (op->counts ? kernel_latency(op) : 0), op, PHASE_LATENCY);
    return PROGRESS_DONE;
}

/* What the function computes costs nothing, as elsewhere on the host; its thread has to wake up. */
static enum progress begin_host(struct op *op)
{
    if (carry_out(op) == PROGRESS_BLOCKED)
        return PROGRESS_BLOCKED;
    agenda_push(now + topology->cost.host_function_ps, op, PHASE_LATENCY);
    return PROGRESS_DONE;
}

static void send(struct op *op)
{
    if (op->kind == OP_COPY)
        send_copy(op);
    else if (op->kind == OP_KERNEL && op->counts)
        send_kernel(op);
    else if (op->kind == OP_MEMSET && process_device_of(op->u.memset.dst) >= 0)
        add_flow(op, memory_route(process_device_of(op->u.memset.dst)),
                 op->u.memset.bytes * op->u.memset.rows);
    if (op->flows == 0)
        finish(op);
}

static enum progress start(struct op *op)
{
    op->start_ps = now;
    switch (op->kind) {
    case OP_MARK: /* finished when it was ready */
        break;
    case OP_COPY:
        agenda_push(now + copy_latency(op), op, PHASE_LATENCY);
        break;
    case OP_MEMSET:
        agenda_push(now + topology->cost.kernel_floor_ps, op, PHASE_LATENCY);
        break;
    case OP_FREE: /* a word in a table */
        agenda_push(now, op, PHASE_LATENCY);
        break;
    case OP_HOST:
        return begin_host(op);
    case OP_KERNEL:
        return begin_kernel(op);
    }
    return PROGRESS_DONE;
}

static void set_aside(struct op *op)
{
    if (aside_count == aside_room) {
        aside_room = 2 * aside_room + 16;
        aside = realloc(aside, (size_t)aside_room * sizeof *aside);
        if (!aside)
            abort();
    }
    op->start_ps = now;
    aside[aside_count++] = op;
}

/* Those that need not poll any longer take their time from now on. */
static void take_back(void)
{
    int left = 0;
    for (int i = 0; i < aside_count; i++) {
        struct op *op = aside[i];
        if (op->carried)
            agenda_push(now + (op->counts ? kernel_latency(op) : 0), op, PHASE_LATENCY);
        else
            aside[left++] = op;
    }
    aside_count = left;
}

bool sim_pass_by(void)
{
    passed_by = blocked;
    blocked = NULL;
    return passed_by != NULL;
}

/* One event that happens at or before `limit_ps`. False: there is none. */
static bool advance(uint64_t limit_ps, enum progress *progress)
{
    uint64_t flow_ps = flow_next_ps(), event_ps = agenda_next_ps();
    *progress = PROGRESS_DONE;
    if ((flow_ps < event_ps ? flow_ps : event_ps) > limit_ps ||
        (event_ps == AGENDA_EMPTY && flow_ps == FLOW_NEVER))
        return false;
    if (flow_ps <= event_ps) {
        now = flow_ps > now ? flow_ps : now;
        struct op *op = flow_take_arrived(flow_ps);
        if (op && --op->flows == 0 && !send_later_bytes(op))
            finish(op);
        return true;
    }
    struct happening event = agenda_pop();
    now = event.at_ps;
    if (event.phase == PHASE_START && event.op == passed_by) {
        set_aside(event.op);
        passed_by = NULL;
    } else if (event.phase == PHASE_START) {
        *progress = start(event.op);
        blocked = NULL;
        if (*progress == PROGRESS_BLOCKED) { /* time stands still until somebody lets it go on */
            blocked = event.op->kind == OP_KERNEL ? event.op : NULL;
            agenda_push(event.at_ps, event.op, PHASE_START);
        }
    } else {
        send(event.op);
    }
    return true;
}

enum progress sim_pass(uint64_t time_ps)
{
    enum progress progress = PROGRESS_DONE;
    cost_enter();
    take_back();
    while (progress == PROGRESS_DONE && advance(time_ps, &progress))
        ;
    cost_leave();
    if (progress == PROGRESS_DONE && time_ps != UINT64_MAX && time_ps > now)
        now = time_ps;
    return progress;
}

enum progress sim_finish(struct op *op)
{
    enum progress progress = PROGRESS_DONE;
    cost_enter();
    take_back();
    op_keep(op);
    while (progress == PROGRESS_DONE && !op->finished)
        if (!advance(UINT64_MAX, &progress)) {
            if (aside_count == 0)
                abort(); /* a graph without cycles always has an event left */
            progress = PROGRESS_BLOCKED;
        }
    op_drop(op);
    cost_leave();
    return progress;
}

bool sim_restart(void)
{
    if (sim_pass(UINT64_MAX) != PROGRESS_DONE || agenda_next_ps() != AGENDA_EMPTY || aside_count)
        return false;
    flow_restart();
    now = 0;
    return true;
}
