/* SPDX-License-Identifier: MIT
 * ipc.c: see ipc.h.
 */
#include "ipc.h"

#include <stdlib.h>

#include "codes.h"
#include "ipc_key.h"
#include "machine.h"
#include "pool.h"
#include "owner.h"
#include "vmm.h"
#include "memory_state.h"

/* An exported allocation. Without an owner, it exists only for the processes that have it open. */
struct ipc_export {
    struct ipc_key key;
    struct owner *owner;
    uint64_t address, bytes;
    uint64_t pool; /* id of its pool; 0: cudaMalloc */
    /* The chunks around it. */
    struct vmm_allocation *memory;
    /* Offset of the allocation in them. */
    uint64_t skip;
    int windows;
    struct ipc_export *next;
};

struct ipc_window {
    struct ipc_export *of;
    struct owner *owner;
    struct vmm_mapping *mapping;
    /* The imported pool it was opened with; NULL: opened by cudaIpcOpenMemHandle. */
    const struct pool *pool;
    int opens;
    struct ipc_window *next;
};

/* ---- exports ---- */

static struct ipc_export *new_export(const struct pointee *p)
{
    struct ipc_export *e = calloc(1, sizeof *e);
    uint64_t offset = p->base - VGPU_DEVICE_VA(p->device);
    uint64_t first = offset / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
    uint64_t end = (offset + p->bytes + VGPU_CHUNK_BYTES - 1) / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
    if (!e || !ipc_key_make(&e->key, "vgpumem") ||
        !(e->memory = vmm_borrow(p->device, first, end - first))) {
        free(e);
        return NULL;
    }
    e->owner = p->owner;
    e->address = p->base;
    e->pool = p->pool ? p->pool->id : 0;
    e->bytes = p->bytes;
    e->skip = offset - first;
    e->next = memory_current->ipc.exports;
    memory_current->ipc.exports = e;
    return e;
}

static struct ipc_export *export_at(const struct owner *owner, uint64_t address)
{
    struct ipc_export *e = memory_current->ipc.exports;
    while (e && (e->owner != owner || e->address != address))
        e = e->next;
    return e;
}

int ipc_opened_by_others(const struct owner *owner, uint64_t address)
{
    const struct ipc_export *e = export_at(owner, address);
    int count = 0;
    for (const struct ipc_window *w = e ? memory_current->ipc.windows : NULL; w; w = w->next)
        count += w->of == e;
    return count;
}

static void drop_if_unused(struct ipc_export *e)
{
    if (e->owner || e->windows > 0)
        return;
    struct ipc_export **at = &memory_current->ipc.exports;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    vmm_drop(e->memory);
    free(e);
}

bool ipc_export(const struct pointee *p, uint8_t handle[IPC_HANDLE_BYTES])
{
    struct ipc_export *e = export_at(p->owner, p->base);
    e = e ? e : new_export(p);
    if (e)
        ipc_key_write(handle, &e->key);
    return e != NULL;
}

/* When the owner ends, the chunks themselves are transferred, if they contain nothing else. While
 * it is running they are copied, so that its address can get other memory (recorded), and
 * transferred only if there is no room for a copy. */
static bool keep_bytes(struct ipc_export *e, bool owner_ends)
{
    return owner_ends ? vmm_hand_over(e->memory, e->address) || vmm_move(e->memory)
                      : vmm_move(e->memory) || vmm_hand_over(e->memory, e->address);
}

static void orphan_export(struct ipc_export *e, bool owner_ends)
{
    if (e->windows > 0 && !keep_bytes(e, owner_ends))
        for (struct ipc_window *w = memory_current->ipc.windows; w; w = w->next)
            if (w->of == e) /* lost: the next access faults */
                vmm_allow(w->mapping, -1, 0);
    e->owner = NULL;
    drop_if_unused(e);
}

void ipc_freed(struct owner *owner, uint64_t address)
{
    struct ipc_export *e = export_at(owner, address);
    if (e)
        orphan_export(e, false);
}

/* ---- windows ---- */

static struct ipc_window *new_window(struct owner *owner, struct ipc_export *e)
{
    struct ipc_window *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->mapping = vmm_open_window(owner, e->memory, e->skip, e->bytes);
    if (!w->mapping) {
        free(w);
        return NULL;
    }
    w->of = e;
    w->owner = owner;
    w->next = memory_current->ipc.windows;
    memory_current->ipc.windows = w;
    e->windows++;
    return w;
}

static void close_window(struct ipc_window *w)
{
    struct ipc_window **at = &memory_current->ipc.windows;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    vmm_close_window(w->mapping);
    w->of->windows--;
    drop_if_unused(w->of);
    free(w);
}

static struct ipc_export *named_export(const uint8_t *handle)
{
    struct ipc_export *e = memory_current->ipc.exports;
    while (e && !(e->owner && ipc_key_is(handle, &e->key)))
        e = e->next;
    return e;
}

static void show_window(struct ipc_window *w)
{
    for (int d = 0; d < machine->info.device_count; d++)
        vmm_allow(w->mapping, d, pool_reaches(w->pool, d) ? 3 : 0);
}

int ipc_open_pool(struct owner *owner, const uint8_t *handle, const struct pool *pool,
                  uint64_t *address)
{
    struct ipc_export *e = named_export(handle);
    if (!e || !e->pool || e->pool != pool->origin)
        return VGPU_INVALID_VALUE;
    struct ipc_window *w = new_window(owner, e);
    if (!w)
        return VGPU_OUT_OF_MEMORY;
    w->opens = 1;
    w->pool = pool;
    w->mapping->shown_on = pool->device;
    show_window(w);
    *address = w->mapping->base;
    return VGPU_SUCCESS;
}

bool ipc_of_pool(const struct owner *owner, uint64_t address, bool dying)
{
    struct ipc_window *w = memory_current->ipc.windows;
    while (w && (w->owner != owner || w->mapping->base != address))
        w = w->next;
    bool is = w && w->pool && !w->mapping->dying;
    if (is)
        w->mapping->dying = dying;
    return is;
}

void ipc_pool_access(const struct pool *pool)
{
    for (struct ipc_window *w = memory_current->ipc.windows; w; w = w->next)
        if (w->pool == pool)
            show_window(w);
}

int ipc_open(struct owner *owner, const uint8_t *handle, int device, uint64_t *address)
{
    struct ipc_export *e = named_export(handle);
    if (!e || e->pool)
        return VGPU_INVALID_VALUE;
    if (e->owner == owner)
        return VGPU_DEVICE_UNINITIALIZED;
    if (e->memory->device != device && !machine->info.pair[device][e->memory->device].access)
        return VGPU_PEER_UNSUPPORTED;
    struct ipc_window *w = memory_current->ipc.windows;
    while (w && (w->of != e || w->owner != owner))
        w = w->next;
    w = w ? w : new_window(owner, e);
    if (!w)
        return VGPU_OUT_OF_MEMORY;
    if (w->opens++ == 0)
        w->mapping->shown_on = device;
    vmm_allow(w->mapping, device, 3);
    *address = w->mapping->base;
    return VGPU_SUCCESS;
}

bool ipc_close(struct owner *owner, uint64_t address)
{
    struct ipc_window *w = memory_current->ipc.windows;
    while (w && (w->owner != owner || w->mapping->base != address))
        w = w->next;
    if (w && --w->opens == 0)
        close_window(w);
    return w != NULL;
}

int ipc_open_count(const struct owner *owner)
{
    int count = 0;
    for (const struct ipc_window *w = memory_current->ipc.windows; w; w = w->next)
        count += w->owner == owner ? w->opens : 0;
    return count;
}

void ipc_end(struct owner *owner, int device)
{
    for (struct ipc_window *w = memory_current->ipc.windows, *next; w; w = next) {
        next = w->next;
        if (w->owner == owner && (device < 0 || w->mapping->shown_on == device))
            close_window(w);
    }
    for (struct ipc_export *e = memory_current->ipc.exports, *next; e; e = next) {
        next = e->next;
        if (e->owner == owner && (device < 0 || e->memory->device == device))
            orphan_export(e, true);
    }
}
