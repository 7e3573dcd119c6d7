/* SPDX-License-Identifier: MIT
 * request_work.c: requests of copies, fills and kernels: checked and put into their stream.
 */
#include "cold.h"
#include "machine.h"
#include "reply.h"
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "misuse.h"
#include "hostcall.h"
#include "occupancy.h"
#include "device_memory.h"
#include "pool.h"
#include "sealed.h"
#include "process.h"
#include "op_costs.h"
#include "text.h"
#include "vmm.h"

/* One side of a copy or fill. Its address is looked up once. */
struct side {
    const char *name;
    uint64_t address;
    /* The device that needs access: the one named in the call, or the current one. */
    int device;
    bool found; /* `at` is valid: the address belongs to an allocation */
    struct pointee at;
    uint64_t sealed; /* bytes of sealed memory from `address` on, if it may be this side; else 0 */
};

static struct side find_side(const char *name, uint64_t address, int device)
{
    struct side s = {.name = name, .address = address, .device = device};
    s.found = memory_find(address, &s.at);
    return s;
}

/* The GPU whose memory it is; -1: host memory, or no allocation. */
static int memory_gpu(const struct side *side)
{
    return side->found ? side->at.device : -1;
}

/* True if it is mapped memory that `device` may access. */
static bool is_mapped_for(const struct side *side, int device)
{
    return side->at.mapping && side->at.mapping->mode[device];
}

/* True if [address, +span) is inside one live allocation of the process; else the request fails. */
static bool check_range(struct connection *c, const struct side *side, uint64_t span)
{
    const struct pointee *p = &side->at;
    uint64_t address = side->address, base = 0, bytes = 0;
    if (side->found && p->owner == &c->process->memory && !p->dying) {
        base = p->base;
        bytes = p->mapping ? address - base + vmm_run(p->mapping, address) : p->bytes;
    } else if (sealed_is(address)) {
        base = address;
        bytes = side->sealed;
    } else if (address >= VGPU_HOST_VA && address < VGPU_HOST_END) {
        struct arena_range *r = arena_find(&c->process->memory.host, address - VGPU_HOST_VA);
        base = r ? VGPU_HOST_VA + r->offset : 0;
        bytes = r ? r->bytes : 0;
    }
    if (!bytes) {
        request_fail(c, VGPU_INVALID_VALUE,
                     "the %s %#llx is not allocated: freed already, or never allocated?",
                     side->name, (unsigned long long)address);
        return false;
    }
    if (span > base + bytes - address) {
        request_fail(
            c, VGPU_INVALID_VALUE,
            "%llu bytes from the %s, but only %llu of its allocation's %llu bytes are left",
            (unsigned long long)span, side->name, (unsigned long long)(base + bytes - address),
            (unsigned long long)bytes);
        return false;
    }
    return true;
}

static struct op *new_op(struct connection *c, int device, enum op_kind kind)
{
    const struct vgpu_request *q = &c->request.q;
    struct op *op = op_new(c->process, device, kind);
    op->issue_ps = c->reply.r.clock_ps; /* the device receives it at the end of the call */
    op->seen_ps = c->time.seen_ps;
    op->graph = q->graph & VGPU_GRAPH_PLACE;
    op->caller = q->caller;
    vgpu_text_copy(op->call, sizeof op->call, q->call);
    vgpu_text_copy(op->site, sizeof op->site, q->site);
    return op;
}

/* The call does not wait for `op`, which is in its stream: the reply identifies the operation. */
static void answer_at_once(struct connection *c, struct op *op)
{
    c->reply.r.step = (struct vgpu_step){op->check.component, op->check.number};
    op_drop(op);
}

/* ---- copies ---- */

/* The bytes that a copy or fill uses on one side. */
struct box {
    uint64_t bytes, rows, pitch; /* rows: of all planes */
    uint64_t plane_rows, plane;  /* plane_rows 0: one plane */
};

/* The size of a 2D range from first to last byte; UINT64_MAX if rows overlap or on overflow. */
static uint64_t span_bytes(uint64_t bytes, uint64_t rows, uint64_t pitch)
{
    uint64_t before = 0, all = UINT64_MAX;
    if ((rows > 1 && pitch < bytes) || __builtin_mul_overflow(rows - 1, pitch, &before) ||
        __builtin_add_overflow(before, bytes, &all))
        return UINT64_MAX;
    return all;
}

/* Marks every allocation in the range as used by `op`; mapped ones may be adjacent. */
static void mark_touched(struct op *op, const struct side *side, uint64_t bytes)
{
    uint64_t address = side->address;
    if (side->found)
        op_touches_home(op, side->at.home);
    if (!side->at.mapping)
        return;
    for (uint64_t n; bytes > 0 && (n = vmm_piece(address)) > 0; address += n, bytes -= n) {
        op_touches(op, address);
        if (n >= bytes)
            return;
    }
}

/* The same for a box. */
static uint64_t box_span(struct box b)
{
    if (b.plane_rows == 0 || b.rows <= b.plane_rows)
        return span_bytes(b.bytes, b.rows, b.pitch);
    if (b.rows % b.plane_rows != 0)
        return UINT64_MAX;
    return span_bytes(span_bytes(b.bytes, b.plane_rows, b.pitch), b.rows / b.plane_rows, b.plane);
}

/* Memory of a pool can be copied if the current GPU has access, whatever the stream's GPU; for a
 * peer copy, the named GPUs need access (recorded). Otherwise fails the request. */
static bool pool_permits(struct connection *c, const struct side *side)
{
    const struct pointee *p = &side->at;
    if (!side->found || !p->pool || pool_reaches(p->pool, side->device))
        return true;
    request_fail(c, VGPU_INVALID_VALUE,
                 "the %s is memory of a pool of GPU %d, which GPU %d may not access: name or make "
                 "current GPU %d, or call cudaMemPoolSetAccess",
                 side->name, p->device, side->device, p->device);
    return false;
}

/* A peer copy can use mapped (cuMem*) memory if the named GPU has access (recorded). Otherwise
 * fails the request. */
static bool mapping_permits(struct connection *c, const struct side *side)
{
    const struct vmm_mapping *m = side->at.mapping;
    if (!m || m->shown_on >= 0 || m->mode[side->device])
        return true;
    request_fail(c, VGPU_INVALID_VALUE,
                 "the %s is mapped memory of GPU %d, which GPU %d, named in the call, may not "
                 "access: name a GPU that cuMemSetAccess allowed",
                 side->name, m->handle->allocation->device, side->device);
    return false;
}

/* Sealed memory can only be copied to and from GPUs: a copy to host memory would reveal it to the
 * program. Otherwise fails the request. */
static bool sealed_permits(struct connection *c, const struct side *one, const struct side *other)
{
    if (!sealed_is(one->address) || other->found)
        return true;
    request_fail(c, VGPU_INVALID_VALUE,
                 "sealed memory is copied to and from memory of GPUs only, and %#llx is none",
                 (unsigned long long)other->address);
    return false;
}

static bool check_devices(struct connection *c, const struct vgpu_copy *copy)
{
    int n = machine_info()->device_count;
    if (copy->api != VGPU_COPY_PEER || (copy->dst_device >= 0 && copy->dst_device < n &&
                                        copy->src_device >= 0 && copy->src_device < n))
        return true;
    request_fail(c, VGPU_INVALID_DEVICE, "copy from GPU %d to GPU %d: the node has GPUs 0 to %d",
                 copy->src_device, copy->dst_device, n - 1);
    return false;
}

static bool check_copy(struct connection *c, const struct vgpu_copy *copy, const struct side *to,
                       const struct side *from)
{
    struct box there = {copy->bytes, copy->rows, copy->pitch_dst, copy->plane_rows,
                        copy->plane_dst};
    struct box here = {copy->bytes, copy->rows, copy->pitch_src, copy->plane_rows, copy->plane_src};
    return sealed_permits(c, from, to) && sealed_permits(c, to, from) &&
           check_range(c, to, box_span(there)) && check_range(c, from, box_span(here)) &&
           pool_permits(c, to) && pool_permits(c, from) &&
           (copy->api != VGPU_COPY_PEER || (mapping_permits(c, to) && mapping_permits(c, from)));
}

/* Makes a context on the side's device (of another process's memory: where it was opened). */
static void touch_context(struct connection *c, const struct side *side)
{
    if (side->found)
        process_context(c->process, side->at.shown_on);
}

/* True if the call waits: if a side is pageable, since it is staged and may be reused when the call
 * returns; if it is synchronous, unless both sides are device memory. cudaMemcpyPeer waits even
 * then, contrary to its documentation (recorded, [peercopy_sync]). */
static bool copy_waits(const struct vgpu_copy *copy, int from, int to)
{
    return copy->src_pageable || copy->dst_pageable ||
           (copy->sync && (copy->api == VGPU_COPY_PEER || from < 0 || to < 0));
}

static bool goes_inline(const struct op *op)
{
    const struct vgpu_copy *copy = &op->u.copy;
    return copy->src_pageable && !copy->dst_pageable &&
           (double)(copy->bytes * copy->rows) <= copy_model(machine_topology(), op)->inline_bytes;
}

/* Sets the duration of the call, and the time from which the device can start. */
static void time_copy(struct connection *c, const struct stream *s, struct op *op)
{
    const struct path_model *m = copy_model(machine_topology(), op);
    double bytes = (double)(op->u.copy.bytes * op->u.copy.rows);
    op->by_default = op->from >= 0 && op->to >= 0 && op->from != op->to && stream_is_legacy(s);
    double inline_s = goes_inline(op) ? bytes / m->inline_bytes_s : 0;
    uint64_t more_ps = op->by_default ? m->default_issue_ps : 0;
    request_cost(c, m->issue_ps + more_ps + (uint64_t)(inline_s * 1e12));
    cold_copy(c, op->from, op->to);
    op->issue_ps = c->reply.r.clock_ps;
}

static enum wait op_wait(const struct op *op)
{
    const struct vgpu_copy *copy = &op->u.copy;
    if (goes_inline(op))
        return WAIT_EFFECT;
    return copy->src_pageable && !copy->dst_pageable ? WAIT_HANDOVER : WAIT_END;
}

/* The GPUs whose streams the copy is ordered with, as bits: a copy between two GPUs in a default
 * stream, and cudaMemcpyPeer in any, waits for earlier work of both GPUs, and their later work for
 * it (recorded, default_copy). */
static uint32_t ordered_with(const struct vgpu_copy *copy, const struct stream *s, int from, int to)
{
    if (from < 0 || to < 0)
        return 0;
    uint32_t both = 1u << from | 1u << to;
    if (copy->api == VGPU_COPY_PEER && copy->sync)
        return both;
    return stream_is_legacy(s) && from != to ? both | 1u << s->device : 0;
}

void request_copy(struct connection *c)
{
    struct vgpu_copy *copy = &c->request.q.u.copy;
    struct stream *s = request_stream(c);
    bool peer = copy->api == VGPU_COPY_PEER;
    int current = c->request.q.device;
    if (copy->rows == 0)
        copy->rows = 1;
    if (!s || !check_devices(c, copy) || copy->bytes == 0)
        return; /* 0 bytes: nothing to do */
    struct side dst = find_side("destination", copy->dst, peer ? copy->dst_device : current);
    struct side src = find_side("source", copy->src, peer ? copy->src_device : current);
    dst.sealed = sealed_reach(copy->dst, false);
    src.sealed = sealed_reach(copy->src, true);
    if (!check_copy(c, copy, &dst, &src))
        return;
    int from = memory_gpu(&src), to = memory_gpu(&dst);
    struct op *op = new_op(c, s->device, OP_COPY);
    op->u.copy = *copy;
    op->from = from;
    op->to = to;
    mark_touched(op, &dst, span_bytes(copy->bytes, copy->rows, copy->pitch_dst));
    mark_touched(op, &src, span_bytes(copy->bytes, copy->rows, copy->pitch_src));
    op->direct = from >= 0 && to >= 0 &&
                 (process_peers_linked(c->process, from, to) || is_mapped_for(&src, to) ||
                  is_mapped_for(&dst, from));
    touch_context(c, &dst);
    touch_context(c, &src);
    time_copy(c, s, op);
    uint32_t devices = ordered_with(copy, s, from, to);
    if (devices)
        stream_push_all(c->process, devices, op);
    else
        stream_push(s, op);
    if (copy_waits(copy, from, to))
        request_wait_until(c, op, op_wait(op));
    else
        answer_at_once(c, op);
}

/* ---- fills ---- */

/* True if kernels of the side's device could fill this memory. */
static bool can_fill(const struct process *process, const struct side *dst)
{
    int device = memory_gpu(dst), from = dst->device;
    if (device < 0 || is_mapped_for(dst, from))
        return true;
    if (dst->at.mapping)
        return false;
    if (device == from)
        return true;
    return dst->at.pool ? pool_reaches(dst->at.pool, from)
                        : process->device[from].peers >> device & 1;
}

/* A length that exceeds the address space is not refused: the memory up to the end of the
 * allocation is filled, and then the GPU faults (recorded, wrap_fill). */
static void cut_wrapping(struct vgpu_memset *m, const struct side *dst)
{
    m->wraps = 0;
    if (m->rows != 1 || m->bytes <= UINT64_MAX - m->dst || !dst->found || dst->at.dying)
        return;
    m->wraps = m->bytes;
    m->bytes = dst->at.base + dst->at.bytes - m->dst;
    m->bytes -= m->bytes % m->width;
}

void request_memset(struct connection *c)
{
    struct vgpu_memset *m = &c->request.q.u.memset;
    struct stream *s = request_stream(c);
    if (m->rows == 0)
        m->rows = 1;
    if (!s)
        return;
    if (m->width != 1 && m->width != 2 && m->width != 4) {
        request_fail(c, VGPU_INVALID_VALUE, "fill of %u-byte elements: 1, 2 or 4", m->width);
        return;
    }
    struct side dst = find_side("destination", m->dst, s->device);
    cut_wrapping(m, &dst);
    struct box box = {m->bytes, m->rows, m->pitch, m->plane_rows, m->plane};
    if (m->bytes == 0 || !check_range(c, &dst, box_span(box)))
        return;
    int device = memory_gpu(&dst);
    if (!can_fill(c->process, &dst)) {
        misuse_mismatch(c->process, &c->request.q, "memory", device, s->device);
        request_fail(c, VGPU_INVALID_VALUE,
                     "the memory is GPU %d's and the stream GPU %d's, which has no access to it: "
                     "use a stream of GPU %d",
                     device, s->device, device);
        return;
    }
    struct op *op = new_op(c, s->device, OP_MEMSET);
    op->u.memset = *m;
    op->to = device;
    mark_touched(op, &dst, span_bytes(m->bytes, m->rows, m->pitch));
    stream_push(s, op);
    if (device < 0 && m->sync)
        request_wait(c, op);
    else
        answer_at_once(c, op);
}

/* ---- kernels ---- */

static bool is_in_size(const uint32_t size[3], uint32_t x, uint32_t y, uint32_t z)
{
    return size[0] >= 1 && size[1] >= 1 && size[2] >= 1 && size[0] <= x && size[1] <= y &&
           size[2] <= z;
}

static bool check_launch(struct connection *c, const struct vgpu_launch *l, int device)
{
    const struct vgpu_device_info *info = &machine_info()->device[device];
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

/* Marks all memory whose addresses are among the kernel's arguments as used. Addresses stored in
 * memory (tables of pointers) are not found. */
static void touch_arguments(struct op *op)
{
    const struct kernel_run *k = &op->u.kernel;
    for (uint32_t at = 0; at + sizeof(uint64_t) <= k->launch.args_bytes; at += 4) {
        uint64_t value;
        memcpy(&value, k->args + at, sizeof value);
        op_touches(op, value);
    }
}

/* The bytes of its GPU's memory that the kernel can read through its arguments. */
static uint64_t reachable_bytes(const struct op *op)
{
    uint64_t bytes = 0;
    struct pointee p;
    if (op->touch[OP_TOUCHES - 1])
        return 0; /* the list is full: there may be more */
    for (int i = 0; i < OP_TOUCHES && op->touch[i]; i++)
        if (memory_find(op->touch[i], &p) && p.device == op->device)
            bytes += p.bytes;
    return bytes;
}

void request_launch(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    struct stream *s = request_stream(c);
    if (!s || !check_launch(c, &q->u.launch, s->device))
        return;
    request_cost(c, machine_topology()->cost.launch_ps);
    cold_launch(c, s->device);
    struct op *op = new_op(c, s->device, OP_KERNEL);
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
    k->reach_bytes = reachable_bytes(op);
    stream_push(s, op);
    answer_at_once(c, op);
}

/* ---- graphs ---- */

void request_graph(struct connection *c)
{
    const struct costs *cost = &machine_topology()->cost;
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
    struct op *op = new_op(c, s->device, OP_HOST);
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
