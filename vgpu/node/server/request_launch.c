/* SPDX-License-Identifier: MIT
 * request_launch.c: requests of kernels, graphs and host functions: checked and put into their
 * stream.
 */
#include "cold.h"
#include "machine.h"
#include "reply.h"
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "device_memory.h"
#include "hostcall.h"
#include "occupancy.h"
#include "process.h"
#include "text.h"

/* ---- kernels ---- */

static bool is_in_size(const uint32_t size[3], uint32_t x, uint32_t y, uint32_t z)
{
    return size[0] >= 1 && size[1] >= 1 && size[2] >= 1 && size[0] <= x && size[1] <= y &&
           size[2] <= z;
}

static bool check_launch(struct connection *c, const struct vgpu_launch *l, int device)
{
    const struct vgpu_device_info *info = &machine->info.device[device];
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (!is_in_size(l->grid, VGPU_GRID_X_MAX, VGPU_GRID_Y_MAX, VGPU_GRID_Z_MAX) ||
        !is_in_size(l->block, VGPU_BLOCK_X_MAX, VGPU_BLOCK_Y_MAX, VGPU_BLOCK_Z_MAX) ||
        threads > VGPU_BLOCK_THREADS_MAX || l->shared_bytes > info->shared_per_block_optin) {
        request_fail(
            c, VGPU_INVALID_VALUE,
            "launch <<<(%u,%u,%u), (%u,%u,%u), %llu>>>: blocks have 1 to %d threads (z at most "
            "%d), grids 1 to %d x %d x %d blocks, shared memory at most %llu bytes",
            l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
            (unsigned long long)l->shared_bytes, VGPU_BLOCK_THREADS_MAX, VGPU_BLOCK_Z_MAX,
            VGPU_GRID_X_MAX, VGPU_GRID_Y_MAX, VGPU_GRID_Z_MAX,
            (unsigned long long)info->shared_per_block_optin);
        return false;
    }
    if (!vgpu_cluster_fits(l->cluster, l->grid)) {
        request_fail(c, VGPU_INVALID_VALUE,
                     "clusters of (%u,%u,%u) blocks: at most %d blocks, which divide the grid",
                     l->cluster[0], l->cluster[1], l->cluster[2], VGPU_CLUSTER_BLOCKS_MAX);
        return false;
    }
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    const struct vgpu_sm sm = {(uint64_t)info->max_threads_per_sm,
                               (uint64_t)info->max_blocks_per_sm, info->shared_per_sm,
                               info->cc_major};
    uint64_t per_sm = vgpu_blocks_per_sm(&sm, threads, l->shared_bytes);
    if (l->cooperative && blocks > per_sm * (uint64_t)info->sm_count) {
        request_fail(c, VGPU_COOPERATIVE_TOO_LARGE,
                     "a cooperative grid of %llu blocks cannot be resident at once: at most %llu",
                     (unsigned long long)blocks,
                     (unsigned long long)(per_sm * (uint64_t)info->sm_count));
        return false;
    }
    if (l->args_bytes > VGPU_ARGS_MAX || l->args_bytes != c->request.q.data_bytes ||
        l->module >= (uint32_t)c->process->module_count) {
        request_fail(c, VGPU_INVALID_VALUE, "a launch of module %u with %u bytes of arguments",
                     l->module, l->args_bytes);
        return false;
    }
    return true;
}

/* Marks all memory whose addresses are among the kernel's arguments as used, and counts the bytes
 * of its GPU's memory that it can read through them. Addresses stored in memory (tables of
 * pointers) are not found. */
static void touch_arguments(struct op *op)
{
    struct kernel_run *k = &op->u.kernel;
    for (uint32_t at = 0; at + sizeof(uint64_t) <= k->launch.args_bytes; at += 4) {
        uint64_t value;
        struct pointee p;
        memcpy(&value, k->args + at, sizeof value);
        if (memory_find(value, &p) && op_touches_home(op, p.home) &&
            (!p.mapping || memory_find(p.home, &p)) && p.device == op->device)
            k->reach_bytes += p.bytes;
    }
    if (op->touch[OP_TOUCHES - 1])
        k->reach_bytes = 0; /* the list is full: there may be more */
}

static uint64_t launch_cost(const struct vgpu_collective *part)
{
    const struct costs *cost = &machine->cost;
    if (part->kind == VGPU_NO_COLLECTIVE)
        return cost->launch_ps;
    return cost->collective_launch_ps + (part->begins ? cost->collective_group_ps : 0);
}

void request_launch(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    struct stream *s = request_stream(c);
    if (!s || !check_launch(c, &q->u.launch, s->device))
        return;
    request_cost(c, launch_cost(&q->u.launch.collective));
    c->reply.r.clock_ps += q->graph / VGPU_GRAPH_MORE * machine->cost.graph_kernel_ps;
    cold_launch(c, s->device);
    struct op *op = request_op(c, s->device, OP_KERNEL);
    struct kernel_run *k = &op->u.kernel;
    k->launch = q->u.launch;
    k->args = malloc(k->launch.args_bytes + 1);
    if (!k->args) {
        op_drop(op);
        request_fail(c, VGPU_OUT_OF_MEMORY, "no memory for a launch");
        return;
    }
    memcpy(k->args, q->data, k->launch.args_bytes);
    vgpu_text_copy(k->name, sizeof q->call, q->call); /* the smaller size */
    touch_arguments(op);
    stream_push(s, op);
    request_answer_at_once(c, op);
}

/* ---- graphs ---- */

void request_graph(struct connection *c)
{
    const struct costs *cost = &machine->cost;
    struct stream *s = request_stream(c);
    uint64_t gpus = c->request.q.bytes;
    request_cost(c, cost->graph_launch_ps + c->request.q.value * cost->graph_node_ps +
                        (gpus > 1 ? gpus - 1 : 0) * cost->graph_gpu_ps);
    if (s)
        c->reply.r.value = (uint64_t)s->device;
}

/* ---- host functions ---- */

void request_host_func(struct connection *c)
{
    struct stream *s = request_stream(c);
    if (!s)
        return;
    struct op *op = request_op(c, s->device, OP_HOST);
    op->u.host.function = c->request.q.value;
    stream_push(s, op);
    hostcall_add(op);
    op_drop(op);
}

void request_host_next(struct connection *c)
{
    request_cost(c, 0);
    if (c->request.q.value)
        hostcall_done(c->process, c->request.q.value);
    c->takes = true;
}
