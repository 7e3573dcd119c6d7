/* SPDX-License-Identifier: MIT
 * request_pool.c: memory pools and stream-ordered allocation.
 */
#include <stdio.h>

#include "cold.h"
#include "counts.h"
#include "inject.h"
#include "ipc.h"
#include "machine.h"
#include "device_memory.h"
#include "order.h"
#include "pool.h"
#include "process.h"
#include "reply.h"
#include "request.h"
#include "trace.h"

static struct pool *named_pool(struct connection *c)
{
    struct pool *p = pool_find(&c->process->memory, c->request.q.value);
    if (!p)
        request_fail(c, VGPU_INVALID_VALUE, "this is not a live memory pool of the program");
    return p;
}

static void refuse_imported(struct connection *c)
{
    request_fail(c, VGPU_INVALID_VALUE,
                 "the pool was imported: only its own process allocates from it, others take in "
                 "pointers with cudaMemPoolImportPointer");
}

void request_pool_create(struct connection *c)
{
    if (!request_device(c, c->request.q.device))
        return;
    struct pool *p = pool_new(&c->process->memory, c->request.q.device);
    if (!p) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "no memory for another pool");
        return;
    }
    p->shareable = c->request.q.flags != 0;
    p->most = c->request.q.bytes;
    c->reply.r.value = p->id;
}

void request_pool_destroy(struct connection *c)
{
    struct pool *p = named_pool(c);
    if (p && p->id <= VGPU_MAX_DEVICES)
        request_fail(c, VGPU_INVALID_VALUE, "GPU %d's default pool cannot be destroyed", p->device);
    else if (p)
        p->destroyed = true;
}

void request_pool_set_access(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct pool *p = named_pool(c);
    if (!p || !request_device(c, q->device))
        return;
    if (q->flags == 1) {
        request_fail(c, VGPU_NOT_SUPPORTED,
                     "access 1 (read): expected none (0) or read and write (3)");
    } else if (q->flags != 0 && q->flags != 3) {
        request_fail(c, VGPU_INVALID_VALUE, "access %u: expected none (0) or read and write (3)",
                     q->flags);
    } else if (q->device == p->device) {
        if (q->flags == 0)
            request_fail(c, VGPU_INVALID_DEVICE,
                         "GPU %d's access to its own pool cannot be taken away", q->device);
    } else if (q->flags && !machine->info.pair[q->device][p->device].access) {
        request_fail(c, VGPU_INVALID_DEVICE,
                     "GPU %d cannot access GPU %d's memory: cudaDeviceCanAccessPeer says 0",
                     q->device, p->device);
    } else {
        uint32_t bit = 1u << q->device;
        p->access = q->flags ? p->access | bit : p->access & ~bit;
        ipc_pool_access(p);
        owner_mappings_changed(&c->process->memory);
    }
}

void request_pool_get_access(struct connection *c)
{
    struct pool *p = named_pool(c);
    if (p && request_device(c, c->request.q.device))
        c->reply.r.value = pool_reaches(p, c->request.q.device) ? 3 : 0;
}

/* values of cudaMemPoolAttr */
enum attribute {
    REUSE_FIRST = 1,
    REUSE_LAST = 3,
    THRESHOLD,
    RESERVED,
    RESERVED_HIGH,
    USED,
    USED_HIGH
};

void request_pool_get(struct connection *c)
{
    struct pool *p = named_pool(c);
    uint32_t which = c->request.q.flags;
    if (!p)
        return;
    if (which == VGPU_POOL_ALLOCATES) {
        if (p->origin)
            refuse_imported(c);
        c->reply.r.value = (uint64_t)p->device;
        return;
    }
    const uint64_t values[] = {[THRESHOLD] = p->threshold,
                               [RESERVED] = p->reserved,
                               [RESERVED_HIGH] = p->reserved_high,
                               [USED] = p->used,
                               [USED_HIGH] = p->used_high};
    if (which >= REUSE_FIRST && which <= REUSE_LAST)
        c->reply.r.value = (uint64_t)p->reuse[which - REUSE_FIRST];
    else if (which >= THRESHOLD && which <= USED_HIGH)
        c->reply.r.value = values[which];
    else
        request_fail(c, VGPU_INVALID_VALUE, "a pool has no attribute %u", which);
}

void request_pool_set(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct pool *p = named_pool(c);
    if (!p)
        return;
    if (q->flags >= REUSE_FIRST && q->flags <= REUSE_LAST)
        p->reuse[q->flags - REUSE_FIRST] = q->bytes != 0;
    else if (q->flags == THRESHOLD)
        p->threshold = q->bytes;
    else if (q->flags == RESERVED_HIGH && q->bytes == 0)
        p->reserved_high = p->reserved;
    else if (q->flags == USED_HIGH && q->bytes == 0)
        p->used_high = p->used;
    else
        request_fail(c, VGPU_INVALID_VALUE,
                     "attribute %u of a pool cannot be set to %llu; the high marks only to 0",
                     q->flags, (unsigned long long)q->bytes);
}

/* Before it fails, it carries out the streams' pending frees, which may make room. */
void request_pool_malloc(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct stream *s = request_stream(c);
    if (!s)
        return;
    struct pool *p =
        q->value ? named_pool(c) : pool_find(&c->process->memory, (uint64_t)s->device + 1);
    if (!p)
        return;
    if (p->origin) {
        refuse_imported(c);
        return;
    }
    /* With several threads it is the operating system that decides which one waits first. */
    if (c->process->late.workers <= 1 && pool_grows(p, &c->process->memory, q->bytes))
        request_cost(c, machine->cost.pool_grow_ps);
    cold_pool(c, p->device);
    if (inject_no_memory()) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "it fails because VGPU_FAULT says so");
        return;
    }
    bool fails = !pool_has_room(p, q->bytes);
    if (!fails)
        c->reply.r.value = memory_take_pool(&c->process->memory, p, q->bytes, q->caller);
    if (!fails && !c->reply.r.value) {
        order_flush(c->process->order);
        c->reply.r.value = memory_take_pool(&c->process->memory, p, q->bytes, q->caller);
    }
    if (!c->reply.r.value) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "%llu bytes asked for, GPU %d has %llu free",
                     (unsigned long long)q->bytes, p->device,
                     (unsigned long long)memory_free_bytes(p->device));
        return;
    }
    node_counts.mallocs++;
    count_memory(p->device, memory_used_bytes(p->device), memory_asked_bytes(p->device));
}

void request_pool_free(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct pointee at;
    struct stream *s = request_stream(c);
    if (!s)
        return;
    bool imported = ipc_of_pool(&c->process->memory, q->ptr, true);
    if (!imported && (!memory_find(q->ptr, &at) || at.owner != &c->process->memory ||
                      at.base != q->ptr || !at.pool || at.dying)) {
        request_fail(c, VGPU_INVALID_VALUE,
                     "%#llx is not the start of live memory of cudaMallocAsync: freed twice, or "
                     "from another call?",
                     (unsigned long long)q->ptr);
        return;
    }
    struct op *op = op_new(c->process, s->device, OP_FREE);
    op->issue_ps = q->clock_ps;
    op->caller = q->caller;
    snprintf(op->call, sizeof op->call, "%s", q->call);
    op->u.free = q->ptr;
    op_touches(op, q->ptr);
    if (!imported)
        memory_die(q->ptr);
    stream_push(s, op);
    op_drop(op);
}

/* ---- other processes ---- */

void request_pool_export(struct connection *c)
{
    struct pool *p = named_pool(c);
    if (!p)
        return;
    if (!p->shareable) {
        request_fail(c, VGPU_INVALID_VALUE,
                     "the pool was made without a handle type: set handleTypes to "
                     "cudaMemHandleTypePosixFileDescriptor before cudaMemPoolCreate (a default "
                     "pool has none)");
        return;
    }
    c->reply_fd[0] = pool_name(p);
    if (c->reply_fd[0] < 0)
        request_fail(c, VGPU_OUT_OF_MEMORY, "the node can open no more descriptors");
    else
        c->reply_fds = 1;
}

void request_pool_import(struct connection *c)
{
    const struct pool *from = pool_named(c->request_fd);
    if (!from) {
        request_fail(c, VGPU_INVALID_VALUE,
                     "the descriptor names no live pool of this node: it must come from "
                     "cudaMemPoolExportToShareableHandle, and the exporter must still have the "
                     "pool");
        return;
    }
    struct pool *p = pool_import(&c->process->memory, from);
    if (p)
        c->reply.r.value = p->id;
    else
        request_fail(c, VGPU_OUT_OF_MEMORY, "no memory for another pool");
}

void request_pool_export_ptr(struct connection *c)
{
    struct pointee at;
    bool ours = memory_find(c->request.q.ptr, &at) && at.owner == &c->process->memory && at.pool;
    if (!ours || at.dying || !at.pool->shareable || at.base != c->request.q.ptr)
        request_fail(
            c, VGPU_INVALID_VALUE,
            "%#llx is not the start of live memory of a pool that can be shared (handleTypes at "
            "cudaMemPoolCreate)",
            (unsigned long long)c->request.q.ptr);
    else if (ipc_export(&at, c->reply.r.data))
        c->reply.r.data_bytes = IPC_HANDLE_BYTES;
    else
        request_fail(c, VGPU_OUT_OF_MEMORY, "the node is out of memory");
}

void request_pool_import_ptr(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct pool *p = named_pool(c);
    if (!p)
        return;
    int error = !p->origin || q->data_bytes != IPC_HANDLE_BYTES
                    ? VGPU_INVALID_VALUE
                    : ipc_open_pool(&c->process->memory, q->data, p, &c->reply.r.value);
    if (error)
        request_fail(c, error,
                     "the data names no live memory of the pool that was imported, or it is this "
                     "process's own");
}
