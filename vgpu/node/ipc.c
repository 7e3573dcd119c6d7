/* SPDX-License-Identifier: MIT
 * ipc.c: see ipc.h.
 */
#define _GNU_SOURCE
#include "ipc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "codes.h"
#include "pool.h"
#include "process.h"
#include "server.h"
#include "vmm.h"

struct key {
    char magic[8];
    uint8_t secret[16];
};

/* An allocation that has a handle. Without an owner it only lives for those who have it open. */
struct export
{
    struct key key;
    struct process *owner;
    uint64_t address, bytes;
    uint64_t pool;                 /* id of the one it comes from; 0: cudaMalloc */
    struct vmm_allocation *memory; /* the chunks around it */
    uint64_t skip;                 /* from their start to the allocation */
    int windows;
    struct export *next;
};

struct window {
    struct export *of;
    struct process *process;
    struct vmm_mapping *mapping;
    const struct pool *pool; /* imported, as its memory; NULL: by handle */
    bool dying;
    int opens;
    struct window *next;
};

static struct export *exports;
static struct window *windows;

static bool make_key(struct key *key, const char *magic)
{
    memcpy(key->magic, magic, sizeof key->magic);
    return getrandom(key->secret, sizeof key->secret, 0) == sizeof key->secret;
}

static void write_handle(uint8_t *handle, const struct key *key)
{
    memset(handle, 0, IPC_HANDLE_BYTES);
    memcpy(handle, key, sizeof *key);
}

static bool is_handle(const uint8_t *handle, const struct key *key)
{
    uint8_t whole[IPC_HANDLE_BYTES];
    write_handle(whole, key);
    return memcmp(handle, whole, sizeof whole) == 0;
}

/* ---- exports ---- */

static struct export *new_export(const struct pointee *p)
{
    struct export *e = calloc(1, sizeof *e);
    uint64_t offset = p->base - VGPU_DEVICE_VA(p->device);
    uint64_t first = offset / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
    uint64_t end = (offset + p->bytes + VGPU_CHUNK_BYTES - 1) / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
    if (!e || !make_key(&e->key, "vgpumem") ||
        !(e->memory = vmm_borrow(p->device, first, end - first))) {
        free(e);
        return NULL;
    }
    e->owner = p->owner;
    e->address = p->base;
    e->pool = p->pool ? p->pool->id : 0;
    e->bytes = p->bytes;
    e->skip = offset - first;
    e->next = exports;
    exports = e;
    return e;
}

static struct export *export_at(const struct process *owner, uint64_t address)
{
    struct export *e = exports;
    while (e && (e->owner != owner || e->address != address))
        e = e->next;
    return e;
}

int ipc_opened_by_others(const struct process *owner, uint64_t address)
{
    const struct export *e = export_at(owner, address);
    int count = 0;
    for (const struct window *w = e ? windows : NULL; w; w = w->next)
        count += w->of == e && !w->process->dead;
    return count;
}

static void drop_if_unused(struct export *e)
{
    if (e->owner || e->windows > 0)
        return;
    struct export **at = &exports;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    vmm_drop(e->memory);
    free(e);
}

bool ipc_export(const struct pointee *p, uint8_t handle[IPC_HANDLE_BYTES])
{
    struct export *e = export_at(p->owner, p->base);
    e = e ? e : new_export(p);
    if (e)
        write_handle(handle, &e->key);
    return e != NULL;
}

/* At the owner's end the chunks themselves are handed over, where nothing else lies in them. While
 * it lives they are copied, so that its address can get other memory, as recorded; handed over only
 * where there is no room for a copy. */
static bool keep_bytes(struct export *e, bool owner_ends)
{
    return owner_ends ? vmm_hand_over(e->memory, e->address) || vmm_move(e->memory)
                      : vmm_move(e->memory) || vmm_hand_over(e->memory, e->address);
}

static void orphan(struct export *e, bool owner_ends)
{
    if (e->windows > 0 && !keep_bytes(e, owner_ends))
        for (struct window *w = windows; w; w = w->next)
            if (w->of == e) /* lost: the next access faults */
                vmm_allow(w->mapping, -1, 0);
    e->owner = NULL;
    drop_if_unused(e);
}

void ipc_freed(struct process *owner, uint64_t address)
{
    struct export *e = export_at(owner, address);
    if (e)
        orphan(e, false);
}

/* ---- windows ---- */

static struct window *new_window(struct process *process, struct export *e)
{
    struct window *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->mapping = vmm_open_window(process, e->memory, e->skip, e->bytes);
    if (!w->mapping) {
        free(w);
        return NULL;
    }
    w->of = e;
    w->process = process;
    w->next = windows;
    windows = w;
    e->windows++;
    return w;
}

static void close_window(struct window *w)
{
    struct window **at = &windows;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    vmm_close_window(w->mapping);
    w->of->windows--;
    drop_if_unused(w->of);
    free(w);
}

static struct export *named(const uint8_t *handle)
{
    struct export *e = exports;
    while (e && !(e->owner && is_handle(handle, &e->key)))
        e = e->next;
    return e;
}

static void show(struct window *w)
{
    for (int d = 0; d < server_info()->device_count; d++)
        vmm_allow(w->mapping, d, pool_reaches(w->pool, d) ? 3 : 0);
}

int ipc_open_pool(struct process *process, const uint8_t *handle, const struct pool *pool,
                  uint64_t *address)
{
    struct export *e = named(handle);
    if (!e || !e->pool || e->pool != pool->origin)
        return VGPU_INVALID_VALUE;
    struct window *w = new_window(process, e);
    if (!w)
        return VGPU_OUT_OF_MEMORY;
    w->opens = 1;
    w->pool = pool;
    w->mapping->shown_on = pool->device;
    show(w);
    *address = w->mapping->base;
    return VGPU_SUCCESS;
}

bool ipc_of_pool(const struct process *process, uint64_t address, bool dying)
{
    struct window *w = windows;
    while (w && (w->process != process || w->mapping->base != address))
        w = w->next;
    bool is = w && w->pool && !w->dying;
    if (is)
        w->dying = dying;
    return is;
}

void ipc_pool_access(const struct pool *pool)
{
    for (struct window *w = windows; w; w = w->next)
        if (w->pool == pool)
            show(w);
}

int ipc_open(struct process *process, const uint8_t *handle, int device, uint64_t *address)
{
    struct export *e = named(handle);
    if (!e || e->pool)
        return VGPU_INVALID_VALUE;
    if (e->owner == process)
        return VGPU_DEVICE_UNINITIALIZED;
    if (e->memory->device != device && !server_info()->pair[device][e->memory->device].access)
        return VGPU_PEER_UNSUPPORTED;
    struct window *w = windows;
    while (w && (w->of != e || w->process != process))
        w = w->next;
    w = w ? w : new_window(process, e);
    if (!w)
        return VGPU_OUT_OF_MEMORY;
    if (w->opens++ == 0)
        w->mapping->shown_on = device;
    vmm_allow(w->mapping, device, 3);
    *address = w->mapping->base;
    return VGPU_SUCCESS;
}

bool ipc_close(struct process *process, uint64_t address)
{
    struct window *w = windows;
    while (w && (w->process != process || w->mapping->base != address))
        w = w->next;
    if (w && --w->opens == 0)
        close_window(w);
    return w != NULL;
}

int ipc_open_count(const struct process *process)
{
    int count = 0;
    for (const struct window *w = windows; w; w = w->next)
        count += w->process == process ? w->opens : 0;
    return count;
}

void ipc_end(struct process *process, int device)
{
    for (struct window *w = windows, *next; w; w = next) {
        next = w->next;
        if (w->process == process && (device < 0 || w->mapping->shown_on == device))
            close_window(w);
    }
    for (struct export *e = exports, *next; e; e = next) {
        next = e->next;
        if (e->owner == process && (device < 0 || e->memory->device == device))
            orphan(e, true);
    }
}

/* ---- events ---- */

bool ipc_event_export(struct event *event, uint8_t handle[IPC_HANDLE_BYTES])
{
    struct key *key = (struct key *)event->shared->key;
    if (!key->magic[0] && !make_key(key, "vgpuevt"))
        return false;
    write_handle(handle, key);
    return true;
}

int ipc_event_open(struct process *process, const uint8_t *handle, int device, struct event **event)
{
    struct shared_event *s = event_shared_first();
    while (s && !(s->key[0] && is_handle(handle, (const struct key *)s->key)))
        s = s->next;
    if (!s)
        return VGPU_INVALID_HANDLE;
    if (s->maker == process)
        return VGPU_DEVICE_UNINITIALIZED;
    *event = event_share(process, s, device);
    return *event ? VGPU_SUCCESS : VGPU_OUT_OF_MEMORY;
}
