/* SPDX-License-Identifier: MIT
 * vmm.c: see vmm.h.
 */
#include "vmm.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "device_memory.h"
#include "owner.h"
#include "vmm_export.h"
#include "memory_state.h"

/* ---- allocations and handles ---- */

void vmm_drop(struct vmm_allocation *a)
{
    if (--a->refs > 0)
        return;
    if (!a->borrowed)
        memory_give_free(a->device, a->offset);
    free(a);
}

static struct vmm_handle *obtain_handle(struct owner *owner, struct vmm_allocation *a)
{
    for (struct vmm_handle *h = memory_current->vmm.handles; h; h = h->next)
        if (h->owner == owner && h->allocation == a) {
            h->held++;
            return h;
        }
    struct vmm_handle *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    *h = (struct vmm_handle){.owner = owner,
                             .allocation = a,
                             .id = ++memory_current->vmm.ids,
                             .held = 1,
                             .next = memory_current->vmm.handles};
    a->refs++;
    memory_current->vmm.handles = h;
    return h;
}

static void free_unused_handle(struct vmm_handle *h)
{
    if (h->held > 0 || h->mapped > 0)
        return;
    struct vmm_handle **at = &memory_current->vmm.handles;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    vmm_drop(h->allocation);
    free(h);
}

struct vmm_handle *vmm_create(struct owner *owner, int device, uint64_t bytes, uint32_t types)
{
    struct vmm_allocation *a = calloc(1, sizeof *a);
    uint64_t offset = a ? memory_take_free(device, bytes) : ARENA_NONE;
    if (offset == ARENA_NONE) {
        free(a);
        return NULL;
    }
    *a = (struct vmm_allocation){
        .device = device, .refs = 1, .offset = offset, .bytes = bytes, .handle_types = types};
    struct vmm_handle *h = obtain_handle(owner, a);
    vmm_drop(a); /* the handle has a reference now */
    return h;
}

struct vmm_handle *vmm_handle(const struct owner *owner, uint64_t id)
{
    for (struct vmm_handle *h = memory_current->vmm.handles; h; h = h->next)
        if (h->owner == owner && h->id == id)
            return h->held > 0 ? h : NULL;
    return NULL;
}

void vmm_release(struct vmm_handle *handle)
{
    handle->held--;
    free_unused_handle(handle);
}

static struct vmm_handle *import_allocation(struct owner *owner, struct vmm_allocation *a)
{
    struct vmm_handle *h = a ? obtain_handle(owner, a) : NULL;
    if (h)
        h->imported = true;
    return h;
}

struct vmm_handle *vmm_import(struct owner *owner, int fd)
{
    return import_allocation(owner, vmm_exported(fd));
}

bool vmm_export_fabric(struct vmm_allocation *a, uint8_t *handle)
{
    a->has_fabric_key = a->has_fabric_key || ipc_key_make(&a->fabric_key, "vgpufab");
    if (a->has_fabric_key)
        ipc_key_write(handle, &a->fabric_key);
    return a->has_fabric_key;
}

struct vmm_handle *vmm_import_fabric(struct owner *owner, const uint8_t *handle)
{
    for (struct vmm_handle *h = memory_current->vmm.handles; h; h = h->next)
        if (h->allocation->has_fabric_key && ipc_key_is(handle, &h->allocation->fabric_key))
            return import_allocation(owner, h->allocation);
    return NULL;
}

/* ---- ranges ---- */

uint64_t vmm_reserve(struct owner *owner, uint64_t bytes, uint64_t alignment)
{
    if (memory_current->vmm.ranges.size == 0)
        arena_init(&memory_current->vmm.ranges, VGPU_ARENA_END - VGPU_VMM_VA, VGPU_CHUNK_BYTES,
                   &memory_current->serials);
    struct vmm_range *r = calloc(1, sizeof *r);
    uint64_t at = ARENA_NONE;
    if (r && alignment == VGPU_CHUNK_BYTES)
        at = arena_take(&memory_current->vmm.ranges, bytes, r);
    else if (r)
        at = arena_take_aligned(&memory_current->vmm.ranges, bytes, alignment, r);
    if (at == ARENA_NONE) {
        free(r);
        return 0;
    }
    *r = (struct vmm_range){.owner = owner, .va = VGPU_VMM_VA + at, .bytes = bytes};
    return r->va;
}

struct vmm_range *vmm_range(const struct owner *owner, uint64_t va, uint64_t bytes)
{
    struct arena_range *found =
        vmm_address(va) ? arena_find(&memory_current->vmm.ranges, va - VGPU_VMM_VA) : NULL;
    struct vmm_range *r = found ? found->user : NULL;
    bool mine = r && r->owner == owner && !r->window;
    return mine && bytes <= r->bytes - (va - r->va) ? r : NULL;
}

void vmm_free(struct vmm_range *range)
{
    arena_give(&memory_current->vmm.ranges, range->va - VGPU_VMM_VA);
    free(range);
}

/* ---- mappings ---- */

/* The index of the first mapping that ends above `va`; the number of mappings if there is none.
 * Memory may be mapped in thousands of pieces, each of which is found several times a copy. */
static int index_above(uint64_t va)
{
    int low = 0, high = memory_current->vmm.mapping_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const struct vmm_mapping *m = memory_current->vmm.mappings[middle];
        if (m->va + m->bytes <= va)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct vmm_mapping *mapping_of(int index)
{
    return index < memory_current->vmm.mapping_count ? memory_current->vmm.mappings[index] : NULL;
}

struct vmm_mapping *vmm_first(uint64_t va)
{
    return mapping_of(index_above(va));
}

/* False: this computer has no memory for a longer table. */
static bool reserve_mapping(void)
{
    if (memory_current->vmm.mapping_count < memory_current->vmm.mapping_room)
        return true;
    const int room = memory_current->vmm.mapping_room ? 2 * memory_current->vmm.mapping_room : 16;
    void *longer =
        realloc(memory_current->vmm.mappings, (size_t)room * sizeof *memory_current->vmm.mappings);
    if (!longer)
        return false;
    memory_current->vmm.mappings = longer;
    memory_current->vmm.mapping_room = room;
    return true;
}

/* Moves the table's entries from `from` on so that they begin at `to`. */
static void move_mappings(int to, int from)
{
    struct vmm_mapping **table = memory_current->vmm.mappings;
    memmove(table + to, table + from,
            (size_t)(memory_current->vmm.mapping_count - from) * sizeof *table);
    memory_current->vmm.mapping_count += to - from;
}

static void link_mapping(int index)
{
    if (index >= 0)
        memory_current->vmm.mappings[index]->next = mapping_of(index + 1);
}

static struct vmm_mapping *map_handle(struct vmm_handle *handle, uint64_t va)
{
    struct vmm_mapping *m = reserve_mapping() ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return NULL;
    const int at = index_above(va);
    *m = (struct vmm_mapping){.handle = handle,
                              .va = va,
                              .bytes = handle->allocation->bytes,
                              .base = va,
                              .length = handle->allocation->bytes,
                              .shown_on = -1,
                              .serial = ++memory_current->serials};
    move_mappings(at + 1, at);
    memory_current->vmm.mappings[at] = m;
    link_mapping(at);
    link_mapping(at - 1);
    handle->mapped++;
    return m;
}

bool vmm_map(struct vmm_handle *handle, uint64_t va)
{
    return map_handle(handle, va) != NULL;
}

void vmm_allow(struct vmm_mapping *mapping, int device, uint8_t mode)
{
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        if (device < 0 || device == d)
            mapping->mode[d] = mode;
    mapping->handle->owner->map_version++;
}

void vmm_unmap(struct vmm_mapping *mapping)
{
    const int at = index_above(mapping->va);
    move_mappings(at, at + 1);
    link_mapping(at - 1);
    mapping->handle->owner->map_version++;
    mapping->handle->mapped--;
    free_unused_handle(mapping->handle);
    free(mapping);
}

struct vmm_mapping *vmm_at(uint64_t address)
{
    struct vmm_mapping *m = vmm_address(address) ? vmm_first(address) : NULL;
    if (!m || m->va > address)
        return NULL;
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        if (m->mode[d])
            return m;
    return NULL;
}

uint64_t vmm_run(const struct vmm_mapping *m, uint64_t address)
{
    const struct vmm_mapping *next;
    if (m->handle->window)
        return m->base + m->length - address;
    while ((next = vmm_at(m->va + m->bytes)) && !next->handle->window &&
           vmm_range(m->handle->owner, address, next->va + next->bytes - address))
        m = next;
    return m->va + m->bytes - address;
}

uint64_t vmm_piece(uint64_t address)
{
    if (!vmm_address(address))
        return UINT64_MAX;
    const struct vmm_mapping *m = vmm_at(address);
    return m ? m->va + m->bytes - address : 0;
}

/* ---- windows ---- */

struct vmm_allocation *vmm_borrow(int device, uint64_t offset, uint64_t bytes)
{
    struct vmm_allocation *a = calloc(1, sizeof *a);
    if (a)
        *a = (struct vmm_allocation){
            .device = device, .refs = 1, .offset = offset, .bytes = bytes, .borrowed = true};
    return a;
}

/* Makes all processes that map `a` update their mappings. */
static void note_moved_allocation(const struct vmm_allocation *a)
{
    for (struct vmm_handle *h = memory_current->vmm.handles; h; h = h->next)
        if (h->allocation == a)
            h->owner->map_version++;
}

bool vmm_move(struct vmm_allocation *a)
{
    uint64_t to = memory_take_free(a->device, a->bytes);
    if (to == ARENA_NONE)
        return false;
    if (!memory_copy_chunks(a->device, to, a->offset, a->bytes)) {
        memory_give_free(a->device, to);
        return false;
    }
    a->offset = to;
    a->borrowed = false;
    note_moved_allocation(a);
    return true;
}

bool vmm_hand_over(struct vmm_allocation *a, uint64_t address)
{
    if (!memory_disown(address))
        return false;
    a->borrowed = false;
    return true;
}

struct vmm_mapping *vmm_open_window(struct owner *owner, struct vmm_allocation *a, uint64_t skip,
                                    uint64_t bytes)
{
    uint64_t va = vmm_reserve(owner, a->bytes, VGPU_CHUNK_BYTES);
    struct vmm_handle *h = va ? obtain_handle(owner, a) : NULL;
    struct vmm_mapping *m = h ? map_handle(h, va) : NULL;
    struct vmm_range *range = va ? vmm_range(owner, va, a->bytes) : NULL;
    /* Only the mapping refers to the handle; the program does not know it. */
    if (h) {
        h->held--;
        h->window = true;
        free_unused_handle(h);
    }
    if (!m) {
        if (range)
            vmm_free(range);
        return NULL;
    }
    range->window = true;
    m->base = va + skip;
    m->length = bytes;
    return m;
}

void vmm_close_window(struct vmm_mapping *m)
{
    struct vmm_range *range = arena_find(&memory_current->vmm.ranges, m->va - VGPU_VMM_VA)->user;
    vmm_unmap(m);
    vmm_free(range);
}

/* ---- the end of a process ---- */

int vmm_count(const struct owner *owner)
{
    int count = 0;
    for (const struct vmm_handle *h = memory_current->vmm.handles; h; h = h->next)
        count += h->owner == owner && !h->window;
    return count;
}

int vmm_count_mappings(const struct owner *owner)
{
    int count = 0;
    for (const struct vmm_mapping *m = mapping_of(0); m; m = m->next)
        count += m->handle->owner == owner && !m->handle->window;
    return count;
}

int vmm_count_ranges(const struct owner *owner)
{
    int count = 0;
    for (int i = 0; i < memory_current->vmm.ranges.count; i++) {
        const struct vmm_range *r = memory_current->vmm.ranges.range[i].user;
        count += r->owner == owner && !r->window;
    }
    return count;
}

void vmm_end(struct owner *owner)
{
    for (struct vmm_mapping *m = mapping_of(0), *next; m; m = next) {
        next = m->next;
        if (m->handle->owner == owner)
            vmm_unmap(m);
    }
    for (struct vmm_handle *h = memory_current->vmm.handles, *next; h; h = next) {
        next = h->next;
        if (h->owner == owner) {
            h->held = 0;
            free_unused_handle(h);
        }
    }
    for (int i = memory_current->vmm.ranges.count - 1; i >= 0; i--)
        if (((struct vmm_range *)memory_current->vmm.ranges.range[i].user)->owner == owner)
            vmm_free(memory_current->vmm.ranges.range[i].user);
}
