/* SPDX-License-Identifier: MIT
 * request_memory.c: requests about allocations and pointers.
 */
#include "counts.h"
#include "machine.h"
#include "reply.h"
#include "request.h"
#include "server.h"
#include "checks.h"

#include <stdlib.h>
#include <string.h>

#include "inject.h"
#include "misuse.h"
#include "ipc.h"
#include "device_memory.h"
#include "pool.h"
#include "process.h"
#include "call_advice.h"
#include "trace.h"
#include "vmm.h"

void request_malloc(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    if (!request_device(c, q->device) || q->bytes == 0)
        return;
    request_cost(c, machine->cost.malloc_ps);
    if (inject_no_memory()) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "it fails because VGPU_FAULT says so");
        return;
    }
    c->reply.r.value = memory_take(&c->process->memory, q->device, q->bytes, q->caller);
    if (!c->reply.r.value) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "%llu bytes asked for, GPU %d has %llu free",
                     (unsigned long long)q->bytes, q->device,
                     (unsigned long long)memory_free_bytes(q->device));
        return;
    }
    advise_allocated(c->process, &c->request.q);
    node_counts.mallocs++;
    count_memory(q->device, memory_used_bytes(q->device), memory_asked_bytes(q->device));
}

bool request_free_check(struct connection *c)
{
    uint64_t at = c->request.q.ptr;
    struct pointee p;
    if (c->process->sticky) {
        c->reply.r.error = c->process->sticky;
        return false;
    }
    bool imported = ipc_of_pool(&c->process->memory, at, false);
    if (memory_find(at, &p) && p.owner == &c->process->memory && p.base == at &&
        (!p.mapping || imported) && !p.dying && !p.variables && request_same(c, p.serial))
        return true;
    request_fail(c, VGPU_INVALID_VALUE,
                 "%#llx is not the start of a live cudaMalloc allocation: freed twice, or not "
                 "from cudaMalloc (a __device__ variable is not)?",
                 (unsigned long long)at);
    return false;
}

/* cudaFree waits for the device (recorded). Pending work of other devices is carried out, too,
 * since it may use the memory by peer access. */
void request_free_begin(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct pointee p;
    memory_find(q->ptr, &p);
    misuse_free_while_open(c->process, &c->request.q, q->ptr);
    request_cost(c, machine->cost.free_ps);
    request_wait(c, device_mark(c->process, p.device, q->clock_ps));
}

void request_free_end(struct connection *c)
{
    uint64_t at = c->request.q.ptr;
    if (ipc_of_pool(&c->process->memory, at, false) && ipc_close(&c->process->memory, at))
        return;
    ipc_freed(&c->process->memory, at);
    advise_freed(c->process);
    memory_give(&c->process->memory, at);
}

/* True if all processes together may have `bytes` more of host memory. */
static bool host_has_room(uint64_t bytes)
{
    uint64_t most = memory_limit_bytes(), taken = 0;
    for (const struct process *p = process_first(); p; p = p->next)
        taken += p->memory.host.taken_bytes;
    return bytes <= most && taken <= most - bytes;
}

/* `wanted`: requested by the program, not by the runtime for its own use. */
static void host_alloc(struct connection *c, const void *user, bool wanted)
{
    uint64_t bytes = c->request.q.bytes, at = ARENA_NONE;
    if (host_has_room(bytes) && !(wanted && inject_no_memory()))
        at = arena_take(&c->process->memory.host, bytes, (void *)user);
    if (at == ARENA_NONE) {
        request_fail(c, VGPU_OUT_OF_MEMORY,
                     "%llu bytes of pinned or managed memory asked for; all of it together may be "
                     "%llu MiB here (VGPU_MEMORY_LIMIT)",
                     (unsigned long long)bytes, (unsigned long long)(memory_limit_bytes() >> 20));
        return;
    }
    c->reply.r.value = VGPU_HOST_VA + at;
}

static void host_register(struct connection *c)
{
    struct host_alias *alias = malloc(sizeof *alias);
    if (!alias) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "the node is out of memory");
        return;
    }
    alias->va = c->request.q.ptr;
    host_alloc(c, alias, true);
    if (c->reply.r.error)
        free(alias);
}

void request_host_alloc(struct connection *c)
{
    if (!request_device(c, c->request.q.device) || c->request.q.bytes == 0)
        return;
    bool objects = c->request.q.value == VGPU_HOST_OBJECTS;
    request_cost(c, objects ? 0 : machine->cost.malloc_ps);
    if (c->request.q.value == VGPU_HOST_REGISTERED)
        host_register(c);
    else if (objects)
        host_alloc(c, &host_objects, false);
    else
        host_alloc(c, c->request.q.value == VGPU_HOST_MANAGED ? &host_managed : NULL, true);
    if (c->reply.r.error)
        return;
    owner_mappings_changed(&c->process->memory);
    node_counts.host_allocs += !objects;
}

void request_stage_alloc(struct connection *c)
{
    request_cost(c, 0);
    host_alloc(c, &host_staging, false);
}

/* The range that begins at the request's address, if it is of that kind; otherwise fails the
 * request. */
static const struct arena_range *find_host_range(struct connection *c, bool staging)
{
    uint64_t at = c->request.q.ptr;
    const struct arena_range *r = at >= VGPU_HOST_VA && at < VGPU_HOST_END
                                      ? arena_find(&c->process->memory.host, at - VGPU_HOST_VA)
                                      : NULL;
    if (r && r->offset == at - VGPU_HOST_VA && (r->user == &host_staging) == staging)
        return r;
    request_fail(c, VGPU_INVALID_VALUE, "%#llx is not the start of live pinned host memory",
                 (unsigned long long)at);
    return NULL;
}

bool request_host_free_check(struct connection *c)
{
    if (c->process->sticky) {
        c->reply.r.error = c->process->sticky;
        return false;
    }
    const struct arena_range *r = find_host_range(c, false);
    if (!r || request_same(c, r->serial))
        return r;
    request_fail(c, VGPU_INVALID_VALUE, "%#llx was freed by another thread meanwhile",
                 (unsigned long long)c->request.q.ptr);
    return false;
}

void request_host_free_begin(struct connection *c)
{
    request_cost(c, machine->cost.free_ps);
    request_wait(c, process_mark(c->process, c->request.q.clock_ps));
}

void request_host_free_end(struct connection *c)
{
    uint64_t offset = c->request.q.ptr - VGPU_HOST_VA;
    if (c->request.q.flags & 1)
        return;
    checks_host_released(server_state.checks, c->process, c->request.q.ptr);
    free((void *)host_alias(arena_find(&c->process->memory.host, offset)));
    arena_give(&c->process->memory.host, offset);
    owner_mappings_changed(&c->process->memory);
}

/* Its copies are over. */
void request_stage_free(struct connection *c)
{
    request_cost(c, 0);
    if (c->process->sticky)
        c->reply.r.error = c->process->sticky;
    else if (find_host_range(c, true))
        arena_give(&c->process->memory.host, c->request.q.ptr - VGPU_HOST_VA);
}

void request_mem_info(struct connection *c)
{
    int device = c->request.q.device;
    if (!request_device(c, device))
        return;
    c->reply.r.value = memory_free_bytes(device);
    c->reply.r.value2 = machine->info.device[device].total_bytes;
}

/* The GPUs that have access by cuMemSetAccess, cudaMemPoolSetAccess or an opened handle, as bits.
 */
static uint32_t allowed_devices(const struct pointee *p)
{
    const struct vmm_mapping *m = p->mapping;
    uint32_t bits = 0;
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        if ((m && m->mode[d]) || (p->pool && pool_reaches(p->pool, d)))
            bits |= 1u << d;
    return bits;
}

/* A variable counts as an allocation of its own within its image (recorded). */
static void narrow_to_variable(const struct process *process, uint64_t at, struct vgpu_pointer *out)
{
    for (int i = 0; i < process->variable_count; i++) {
        const struct variable *v = &process->variable[i];
        uint64_t image = process->variables[out->device][v->module];
        if (!image || at - (image + v->offset) >= v->bytes)
            continue;
        out->base = image + v->offset;
        out->bytes = v->bytes;
        out->reach = out->base + out->bytes - at;
    }
}

void request_pointer(struct connection *c)
{
    uint64_t at = c->request.q.ptr;
    struct vgpu_pointer *out = &c->reply.r.u.pointer;
    struct pointee p;
    request_cost(c, machine->cost.local_ps);
    *out = (struct vgpu_pointer){.kind = 0, .device = -2};
    if (memory_find(at, &p) && p.owner == &c->process->memory && !p.dying) {
        *out = (struct vgpu_pointer){.kind = 2,
                                     .device = p.shown_on,
                                     .base = p.base,
                                     .bytes = p.bytes,
                                     .pool = p.pool ? p.pool->id : 0,
                                     .reach =
                                         p.mapping ? vmm_run(p.mapping, at) : p.base + p.bytes - at,
                                     .allowed = allowed_devices(&p)};
        if (p.variables)
            narrow_to_variable(c->process, at, out);
    } else if (at >= VGPU_HOST_VA && at < VGPU_HOST_END) {
        struct arena_range *r = arena_find(&c->process->memory.host, at - VGPU_HOST_VA);
        if (r && r->user != &host_staging)
            *out = (struct vgpu_pointer){.kind = r->user == &host_managed ? 3 : 1,
                                         .device = -1,
                                         .base = VGPU_HOST_VA + r->offset,
                                         .bytes = r->bytes,
                                         .reach = VGPU_HOST_VA + r->offset + r->bytes - at};
    }
}

void request_var(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    struct process *p = c->process;
    char error[256];
    if (!request_device(c, q->device))
        return;
    if (context_prepare(p, q->device, error, sizeof error) != 0) {
        request_fail(c, VGPU_UNKNOWN, "%s", error);
        return;
    }
    for (int i = 0; i < p->variable_count; i++) {
        const struct variable *v = &p->variable[i];
        size_t length = strlen(v->key);
        if (v->module != q->module || length != q->data_bytes ||
            memcmp(v->key, q->data, length) != 0)
            continue;
        c->reply.r.value = p->variables[q->device][v->module] + v->offset;
        c->reply.r.value2 = v->bytes;
        return;
    }
    request_fail(c, 13, "no __device__ variable of this name is in the program's device code");
}
