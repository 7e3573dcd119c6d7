/* SPDX-License-Identifier: MIT
 * request_copy.c: requests of copies and fills: checked and put into their stream.
 */
#include "cold.h"
#include "machine.h"
#include "reply.h"
#include "request.h"

#include "misuse.h"
#include "device_memory.h"
#include "pool.h"
#include "sealed.h"
#include "process.h"
#include "op_costs.h"
#include "vmm.h"

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

/* The same for a box. */
static uint64_t box_span(struct box b)
{
    if (b.plane_rows == 0 || b.rows <= b.plane_rows)
        return span_bytes(b.bytes, b.rows, b.pitch);
    if (b.rows % b.plane_rows != 0)
        return UINT64_MAX;
    return span_bytes(span_bytes(b.bytes, b.plane_rows, b.pitch), b.rows / b.plane_rows, b.plane);
}

/* One side of a copy or fill: [address, +span). Its address is looked up once. */
struct side {
    const char *name;
    uint64_t address, span;
    /* The device that needs access: the one named in the call, or the current one. */
    int device;
    bool found; /* `at` is valid: the address belongs to an allocation */
    struct pointee at;
    bool in_sealed;  /* the address belongs to sealed memory */
    uint64_t sealed; /* bytes of it from `address` on, if it may be this side; else 0 */
};

static struct side find_side(const char *name, uint64_t address, struct box box, int device)
{
    struct side s = {.name = name, .address = address, .span = box_span(box), .device = device};
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

/* True if the side is inside one live allocation of the process; else the request fails. */
static bool check_range(struct connection *c, const struct side *side)
{
    const struct pointee *p = &side->at;
    uint64_t address = side->address, span = side->span, base = 0, bytes = 0;
    if (side->found && p->owner == &c->process->memory && !p->dying) {
        base = p->base;
        bytes = p->mapping ? address - base + vmm_run(p->mapping, address) : p->bytes;
    } else if (side->in_sealed) {
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

/* ---- copies ---- */

/* Marks the other allocations in the range as used by `op`: mapped ones may be adjacent. */
static void mark_mapped(struct op *op, const struct side *side)
{
    uint64_t address = side->address, bytes = side->span;
    for (uint64_t n; bytes > 0 && (n = vmm_piece(address)) > 0; address += n, bytes -= n) {
        op_touches(op, address);
        if (n >= bytes)
            return;
    }
}

/* Marks every allocation of both sides as used by `op`. */
static void mark_touched(struct op *op, const struct side *to, const struct side *from)
{
    if (to->found)
        (void)op_touches_home(op, to->at.home);
    if (from && from->found)
        (void)op_touches_home(op, from->at.home);
    if (to->at.mapping)
        mark_mapped(op, to);
    if (from && from->at.mapping)
        mark_mapped(op, from);
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
    if (!one->in_sealed || other->found)
        return true;
    request_fail(
        c, VGPU_INVALID_VALUE,
        "sealed memory is copied to and from memory of GPUs only, and %#llx is not memory of a GPU",
        (unsigned long long)other->address);
    return false;
}

static bool check_devices(struct connection *c, const struct vgpu_copy *copy)
{
    int n = machine->info.device_count;
    if (copy->api != VGPU_COPY_PEER || (copy->dst_device >= 0 && copy->dst_device < n &&
                                        copy->src_device >= 0 && copy->src_device < n))
        return true;
    request_fail(c, VGPU_INVALID_DEVICE, "copy from GPU %d to GPU %d: the node has GPUs 0 to %d",
                 copy->src_device, copy->dst_device, n - 1);
    return false;
}

static struct side copy_side(const struct vgpu_copy *copy, bool source, int current)
{
    bool peer = copy->api == VGPU_COPY_PEER;
    struct box to = {copy->bytes, copy->rows, copy->pitch_dst, copy->plane_rows, copy->plane_dst};
    struct box from = {copy->bytes, copy->rows, copy->pitch_src, copy->plane_rows, copy->plane_src};
    struct side side =
        source ? find_side("source", copy->src, from, peer ? copy->src_device : current)
               : find_side("destination", copy->dst, to, peer ? copy->dst_device : current);
    side.in_sealed = !side.found && sealed_is(side.address);
    side.sealed = side.in_sealed ? sealed_reach(side.address, source) : 0;
    return side;
}

static bool check_copy(struct connection *c, const struct vgpu_copy *copy, const struct side *to,
                       const struct side *from)
{
    return sealed_permits(c, from, to) && sealed_permits(c, to, from) && check_range(c, to) &&
           check_range(c, from) && pool_permits(c, to) && pool_permits(c, from) &&
           (copy->api != VGPU_COPY_PEER || (mapping_permits(c, to) && mapping_permits(c, from)));
}

/* Makes a context on the side's device (of another process's memory: where it was opened). */
static void touch_context(struct connection *c, const struct side *side)
{
    if (side->found && !c->process->memory.context[side->at.shown_on])
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
           (double)(copy->bytes * copy->rows) <= copy_model(machine, op)->inline_bytes;
}

/* Sets the duration of the call, and the time from which the device can start. */
static void time_copy(struct connection *c, struct op *op)
{
    const struct path_model *m = copy_model(machine, op);
    double bytes = (double)(op->u.copy.bytes * op->u.copy.rows);
    double inline_s = goes_inline(op) ? bytes / m->inline_bytes_s : 0;
    uint64_t more_ps = op->by_default ? m->default_issue_ps : 0;
    request_cost(c, m->issue_ps + more_ps + (uint64_t)(inline_s * 1e12));
    if (c->request.q.graph != VGPU_GRAPH_NONE && copy_path(op) != PATH_LOCAL)
        c->reply.r.clock_ps += machine->cost.graph_engine_ps;
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
static uint32_t ordered_with(const struct op *op)
{
    const struct vgpu_copy *copy = &op->u.copy;
    if (op->from < 0 || op->to < 0)
        return 0;
    uint32_t both = 1u << op->from | 1u << op->to;
    if (copy->api == VGPU_COPY_PEER && copy->sync)
        return both;
    return op->by_default ? both | 1u << op->device : 0;
}

void request_copy(struct connection *c)
{
    struct vgpu_copy *copy = &c->request.q.u.copy;
    struct stream *s = request_stream(c);
    int current = c->request.q.device;
    if (copy->rows == 0)
        copy->rows = 1;
    if (!s || !check_devices(c, copy) || copy->bytes == 0)
        return; /* 0 bytes: nothing to do */
    struct side dst = copy_side(copy, false, current), src = copy_side(copy, true, current);
    if (!check_copy(c, copy, &dst, &src))
        return;
    int from = memory_gpu(&src), to = memory_gpu(&dst);
    struct op *op = request_op(c, s->device, OP_COPY);
    op->u.copy = *copy;
    op->from = from;
    op->to = to;
    op->by_default = from >= 0 && to >= 0 && from != to && s->id == VGPU_STREAM_LEGACY;
    mark_touched(op, &dst, &src);
    op->direct = from >= 0 && to >= 0 &&
                 (process_peers_linked(c->process, from, to) || is_mapped_for(&src, to) ||
                  is_mapped_for(&dst, from));
    touch_context(c, &dst);
    touch_context(c, &src);
    time_copy(c, op);
    uint32_t devices = ordered_with(op);
    if (devices)
        stream_push_all(c->process, devices, op);
    else
        stream_push(s, op);
    if (copy_waits(copy, from, to))
        request_wait_until(c, op, op_wait(op));
    else
        request_answer_at_once(c, op);
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
static void cut_wrapping(struct vgpu_memset *m, struct side *dst)
{
    m->wraps = 0;
    if (m->rows != 1 || m->bytes <= UINT64_MAX - m->dst || !dst->found || dst->at.dying)
        return;
    m->wraps = m->bytes;
    m->bytes = dst->at.base + dst->at.bytes - m->dst;
    m->bytes -= m->bytes % m->width;
    dst->span = m->bytes;
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
    struct box box = {m->bytes, m->rows, m->pitch, m->plane_rows, m->plane};
    struct side dst = find_side("destination", m->dst, box, s->device);
    cut_wrapping(m, &dst);
    if (m->bytes == 0 || !check_range(c, &dst))
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
    struct op *op = request_op(c, s->device, OP_MEMSET);
    op->u.memset = *m;
    op->to = device;
    mark_touched(op, &dst, NULL);
    stream_push(s, op);
    if (device < 0 && m->sync)
        request_wait(c, op);
    else
        request_answer_at_once(c, op);
}
