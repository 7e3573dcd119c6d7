/* SPDX-License-Identifier: MIT
 * context_mapping.c: see context_mapping.h.
 */
#include "context_mapping.h"

#include <stdlib.h>

#include "context.h"
#include "context_request.h"
#include "device_memory.h"
#include "inject.h"
#include "machine.h"
#include "pool.h"
#include "process.h"
#include "reserve.h"
#include "vmm.h"

struct wanted {
    struct mapping *item;
    int count, room, memory;
};

static void want_mapping(struct wanted *w, struct mapping m)
{
    if (w->count == w->room) {
        size_t had = (size_t)w->room * sizeof *w->item;
        w->room = w->room ? 2 * w->room : 32;
        w->item = reserve_grow(w->item, had, (size_t)w->room * sizeof *w->item);
    }
    w->item[w->count++] = m;
}

/* Argument of the visitor: the device and the list being built. */
struct view {
    struct wanted *wanted;
    int device;
    uint32_t peers;
};

static void want_block(const struct block *b, void *context)
{
    const struct view *v = context;
    bool peer = b->pool ? pool_reaches(b->pool, v->device) : v->peers >> b->device & 1;
    if (b->device != v->device && !peer)
        return;
    int writable = inject_drops(v->device, b->device)   ? VGPU_MAP_LOSES_STORES
                   : inject_tears(v->device, b->device) ? VGPU_MAP_TEARS_STORES
                   : inject_clips(v->device, b->device) ? VGPU_MAP_CLIPS_STORES
                                                        : 1;
    want_mapping(v->wanted, (struct mapping){.va = VGPU_DEVICE_VA(b->device) + b->offset,
                                             .bytes = b->bytes,
                                             .offset = b->offset,
                                             .memory = b->device,
                                             .writable = writable});
}

static void want_vmm_mappings(const struct process *process, int device, struct wanted *w)
{
    for (const struct vmm_mapping *m = vmm_first(VGPU_VMM_VA); m; m = m->next)
        if (m->handle->owner == &process->memory && m->mode[device])
            want_mapping(w, (struct mapping){.va = m->va,
                                             .bytes = m->bytes,
                                             .offset = m->handle->allocation->offset,
                                             .memory = m->handle->allocation->device,
                                             .writable = m->mode[device] > 1});
}

static int compare_addresses(const void *a, const void *b)
{
    const struct mapping *first = a, *second = b;
    return first->va < second->va ? -1 : 1;
}

static struct wanted wanted_mappings(struct process *process, int device)
{
    struct wanted w = {0};
    struct view view = {&w, device, process->device[device].peers};
    for (int d = 0; d < machine->info.device_count; d++)
        memory_each_block(&process->memory, d, want_block, &view);
    want_vmm_mappings(process, device, &w);
    for (int i = 0; i < process->memory.host.count; i++) {
        const struct arena_range *r = &process->memory.host.range[i];
        const struct host_alias *alias = host_alias(r);
        if (r->user != &host_staging)
            want_mapping(&w, (struct mapping){.va = alias ? alias->va : VGPU_HOST_VA + r->offset,
                                              .bytes = (r->bytes + 4095) / 4096 * 4096,
                                              .offset = r->offset,
                                              .memory = -1,
                                              .writable = 1});
    }
    if (w.count)
        qsort(w.item, (size_t)w.count, sizeof *w.item, compare_addresses);
    return w;
}

static int send_mapping(struct context *c, struct process *process, uint32_t op,
                        const struct mapping *m, char *error, int room)
{
    union exec_request q = {.request = {.op = op,
                                        .va = m->va,
                                        .bytes = m->bytes,
                                        .offset = m->offset,
                                        .memory = m->memory,
                                        .writable = m->writable}};
    union exec_answer answer;
    return context_command(c, process, &q, NULL, 0, &answer, error, room);
}

static bool same_mapping(const struct mapping *a, const struct mapping *b)
{
    return a->va == b->va && a->bytes == b->bytes && a->memory == b->memory &&
           a->offset == b->offset && a->writable == b->writable;
}

/* Both lists are sorted by address: unmaps what is no longer wanted, then maps what is new. */
static int replace_mappings(struct context *c, struct process *process, struct wanted *w,
                            char *error, int room)
{
    int failed = 0;
    for (int i = 0, j = 0; i < c->mapped_count && !failed; i++) {
        while (j < w->count && w->item[j].va < c->mapped[i].va)
            j++;
        if (j == w->count || !same_mapping(&c->mapped[i], &w->item[j]))
            failed = send_mapping(c, process, VGPU_EXEC_UNMAP, &c->mapped[i], error, room);
    }
    for (int j = 0, i = 0; j < w->count && !failed; j++) {
        while (i < c->mapped_count && c->mapped[i].va < w->item[j].va)
            i++;
        if (i == c->mapped_count || !same_mapping(&c->mapped[i], &w->item[j]))
            failed = send_mapping(c, process, VGPU_EXEC_MAP, &w->item[j], error, room);
    }
    if (failed) { /* the mappings are unknown now; the caller ends the context */
        reserve_give(w->item);
        return failed;
    }
    reserve_give(c->mapped);
    c->mapped = w->item;
    c->mapped_count = w->count;
    return 0;
}

int context_remap(struct context *c, struct process *process, char *error, int room)
{
    struct wanted w = wanted_mappings(process, c->device);
    c->map_version = process->memory.map_version;
    return replace_mappings(c, process, &w, error, room);
}
