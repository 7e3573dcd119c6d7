/* SPDX-License-Identifier: MIT
 * device_memory.c: see device_memory.h.
 */
#include "device_memory.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "inject.h"
#include "pool.h"
#include "owner.h"
#include "chunk_cache.h"
#include "vmm.h"
#include "memory_state.h"

#define SMALL_LIMIT (VGPU_CHUNK_BYTES / 2)

void memory_watch(void (*released)(void *self, uint64_t home), void *self)
{
    memory_current->released = released;
    memory_current->released_self = self;
}

void memory_unwatch(const void *self)
{
    if (memory_current->released_self == self)
        memory_watch(NULL, NULL);
}

static void report_released(uint64_t home)
{
    if (memory_current->released)
        memory_current->released(memory_current->released_self, home);
}

static uint64_t contexts_on(int device)
{
    uint64_t count = 0;
    for (const struct owner *o = owner_first(); o; o = o->next)
        count += o->context[device];
    return count;
}

uint64_t memory_free_bytes(int device)
{
    uint64_t contexts = contexts_on(device) * CONTEXT_BYTES;
    uint64_t taken = memory_current->devices[device].blocks.taken_bytes + contexts;
    return taken < memory_current->devices[device].bytes
               ? memory_current->devices[device].bytes - taken
               : 0;
}

enum use { USE_OWN, USE_SHARED, USE_VARIABLES };

static uint64_t whole_granules(uint64_t bytes)
{
    return (bytes + VGPU_GRANULE_BYTES - 1) / VGPU_GRANULE_BYTES * VGPU_GRANULE_BYTES;
}

static struct block *new_block(struct owner *owner, int device, uint64_t bytes, enum use use)
{
    struct device_memory *m = &memory_current->devices[device];
    uint64_t whole = (bytes + VGPU_CHUNK_BYTES - 1) / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
    if (whole < bytes || whole > memory_free_bytes(device))
        return NULL;
    struct block *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    *b = (struct block){.owner = owner,
                        .device = device,
                        .bytes = whole,
                        .shared = use == USE_SHARED,
                        .variables = use == USE_VARIABLES};
    /* The range of a large allocation keeps the exact size, so that pointers past its end are
     * detected. */
    b->offset = use == USE_VARIABLES ? arena_take_high(&m->blocks, bytes, b)
                                     : arena_take(&m->blocks, b->shared ? whole : bytes, b);
    if (b->offset == ARENA_NONE) {
        free(b);
        return NULL;
    }
    bounds_map(device, b->offset, b->shared ? 0 : use == USE_VARIABLES ? whole : bytes);
    if (b->shared)
        arena_init(&b->small, whole, VGPU_GRANULE_BYTES, &memory_current->serials);
    else if (!b->variables)
        m->asked_bytes += whole_granules(bytes);
    if (owner)
        owner->map_version++;
    return b;
}

/* Poisons memory that is allocated anew. Parts without pages are poisoned when they are committed.
 */
static void poison_bytes(int device, uint64_t offset, uint64_t bytes)
{
    const uint64_t end = offset + bytes;
    if (!memory_was_used(device, offset, bytes) || inject_stale(device))
        return;
    for (uint64_t to; offset < end; offset = to) {
        to = memory_next_part(offset);
        to = to < end ? to : end;
        if (memory_is_committed(device, offset))
            memset(memory_current->devices[device].base + offset, VGPU_POISON, to - offset);
    }
}

/* Allocates from a block of small allocations; 0: it has no room. */
static uint64_t take_from_block(struct block *b, uint64_t bytes, uint64_t caller)
{
    uint64_t at =
        arena_take(&b->small, bytes, (void *)caller); /* NOLINT: a number, not a pointer */
    if (at == ARENA_NONE)
        return 0;
    memory_current->devices[b->device].asked_bytes += whole_granules(bytes);
    poison_bytes(b->device, b->offset + at, bytes);
    bounds_take(b->device, b->offset + at, bytes);
    return VGPU_DEVICE_VA(b->device) + b->offset + at;
}

/* The offset at which a search may begin: a block without a gap of fewer bytes has none of `space`
 * bytes. */
static uint64_t small_from(const struct small_hint *hints, uint64_t space)
{
    uint64_t from = 0;
    for (int k = 0; k < SMALL_HINTS; k++)
        if (hints[k].bytes && hints[k].bytes <= space && hints[k].from > from)
            from = hints[k].from;
    return from;
}

static void small_is_full_below(struct small_hint *hints, uint64_t space, uint64_t offset)
{
    int k = 63 - __builtin_clzll(space / VGPU_GRANULE_BYTES);
    hints[k < SMALL_HINTS ? k : SMALL_HINTS - 1] = (struct small_hint){space, offset};
}

/* The block at `offset` has room now, so no hint may skip it. */
static void small_has_room_at(struct small_hint *hints, uint64_t offset)
{
    for (int k = 0; k < SMALL_HINTS; k++)
        if (hints[k].from > offset)
            hints[k].from = offset;
}

static uint64_t take_small(struct owner *owner, int device, uint64_t bytes, uint64_t caller)
{
    struct device_memory *m = &memory_current->devices[device];
    struct small_hint *hints = owner->small[device];
    uint64_t space = whole_granules(bytes), at = 0;
    for (int i = arena_first_above(&m->blocks, small_from(hints, space)); i < m->blocks.count;
         i++) {
        struct block *b = m->blocks.range[i].user;
        m->looks++;
        at = b->shared && b->owner == owner ? take_from_block(b, bytes, caller) : 0;
        if (at) {
            small_is_full_below(hints, space, b->offset);
            return at;
        }
    }
    struct block *b = new_block(owner, device, VGPU_CHUNK_BYTES, USE_SHARED);
    if (!b)
        return 0;
    small_has_room_at(hints, b->offset);
    small_is_full_below(hints, space, b->offset);
    return take_from_block(b, bytes, caller);
}

uint64_t memory_take_variables(struct owner *owner, int device, uint64_t bytes)
{
    struct block *b = new_block(owner, device, bytes, USE_VARIABLES);
    return b ? VGPU_DEVICE_VA(device) + b->offset : 0;
}

uint64_t memory_take(struct owner *owner, int device, uint64_t bytes, uint64_t caller)
{
    if (bytes <= SMALL_LIMIT)
        return take_small(owner, device, bytes, caller);
    struct block *b = new_block(owner, device, bytes, USE_OWN);
    if (b)
        b->caller = caller;
    return b ? VGPU_DEVICE_VA(device) + b->offset : 0;
}

uint64_t memory_take_free(int device, uint64_t bytes)
{
    struct block *b = new_block(NULL, device, bytes, USE_OWN);
    return b ? b->offset : ARENA_NONE;
}

uint64_t memory_take_pool(struct owner *owner, struct pool *pool, uint64_t bytes, uint64_t caller)
{
    struct block *b = new_block(owner, pool->device, bytes, USE_OWN);
    if (!b)
        return 0;
    b->pool = pool;
    b->caller = caller;
    pool_count(pool, (int64_t)bytes, (int64_t)b->bytes);
    return VGPU_DEVICE_VA(b->device) + b->offset;
}

/* The requested size of a large block. */
static uint64_t asked_bytes(const struct block *b)
{
    return arena_find(&memory_current->devices[b->device].blocks, b->offset)->bytes;
}

static void drop_block(struct block *b)
{
    uint64_t home = VGPU_DEVICE_VA(b->device) + b->offset;
    report_released(home);
    for (int i = 0; i < b->small.count; i++)
        report_released(home + b->small.range[i].offset);
    if (b->pool)
        pool_count(b->pool, -(int64_t)asked_bytes(b), -(int64_t)b->bytes);
    if (!b->variables)
        memory_current->devices[b->device].asked_bytes -=
            b->shared ? b->small.taken_bytes : whole_granules(asked_bytes(b));
    uint64_t first = b->offset / VGPU_CHUNK_BYTES, count = b->bytes / VGPU_CHUNK_BYTES;
    for (uint64_t c = first; c < first + count; c++)
        memory_uncommit(b->device, c);
    bounds_unmap(b->device, b->offset, b->bytes);
    chunk_cache_add(b->device, b->offset, b->bytes);
    arena_give(&memory_current->devices[b->device].blocks, b->offset);
    if (b->owner)
        b->owner->map_version++;
    arena_clear(&b->small);
    free(b);
}

/* The address of the memory itself for an address in a mapping; other addresses are returned
 * unchanged. */
static uint64_t home_of(uint64_t address)
{
    const struct vmm_mapping *m = vmm_at(address);
    if (!m)
        return address;
    const struct vmm_allocation *a = m->handle->allocation;
    return VGPU_DEVICE_VA(a->device) + a->offset + (address - m->va);
}

static struct block *block_at(uint64_t address, uint64_t *offset)
{
    address = home_of(address);
    *offset = 0;
    if (address < VGPU_ARENA_VA || address >= VGPU_DEVICE_VA(memory_current->device_count))
        return NULL;
    uint64_t device = (address - VGPU_ARENA_VA) / VGPU_DEVICE_STRIDE;
    *offset = (address - VGPU_ARENA_VA) % VGPU_DEVICE_STRIDE;
    struct arena_range *r = arena_find(&memory_current->devices[device].blocks, *offset);
    return r ? r->user : NULL;
}

static bool find_mapped(uint64_t address, struct pointee *out)
{
    const struct vmm_mapping *m = vmm_at(address);
    if (!m || address < m->base || address - m->base >= m->length)
        return false;
    const struct vmm_allocation *a = m->handle->allocation;
    *out = (struct pointee){.device = a->device,
                            .base = m->base,
                            .bytes = m->length,
                            .owner = m->handle->owner,
                            .home = VGPU_DEVICE_VA(a->device) + a->offset + (m->base - m->va),
                            .mapping = m,
                            .shown_on = m->shown_on < 0 ? a->device : m->shown_on,
                            .dying = m->dying,
                            .serial = m->serial};
    return true;
}

bool memory_find(uint64_t address, struct pointee *out)
{
    uint64_t offset;
    if (vmm_address(address))
        return find_mapped(address, out);
    struct block *b = block_at(address, &offset);
    if (!b)
        return false;
    struct arena_range *r = b->shared
                                ? arena_find(&b->small, offset - b->offset)
                                : arena_find(&memory_current->devices[b->device].blocks, offset);
    if (!r)
        return false;
    uint64_t base = b->shared ? b->offset + r->offset : b->offset;
    base += VGPU_DEVICE_VA(b->device);
    *out = (struct pointee){.device = b->device,
                            .base = base,
                            .bytes = r->bytes,
                            .owner = b->owner,
                            .home = base,
                            .shown_on = b->device,
                            .pool = b->pool,
                            .dying = b->dying,
                            .variables = b->variables,
                            .caller = b->shared ? (uint64_t)r->user : b->caller,
                            .serial = r->serial};
    return true;
}

void memory_give_free(int device, uint64_t offset)
{
    struct arena_range *r = arena_find(&memory_current->devices[device].blocks, offset);
    if (r)
        drop_block(r->user);
}

void memory_die(uint64_t address)
{
    uint64_t offset;
    struct block *b = block_at(address, &offset);
    if (b)
        b->dying = true;
}

bool memory_give(struct owner *owner, uint64_t address)
{
    uint64_t offset;
    struct pointee gone;
    struct block *b = block_at(address, &offset);
    if (!b || b->owner != owner || b->variables)
        return false;
    if (memory_find(address, &gone) && gone.base == address) {
        bounds_give(&gone);
        report_released(gone.home);
    }
    if (!b->shared) {
        if (offset != b->offset)
            return false;
        drop_block(b);
        return true;
    }
    uint64_t before = b->small.taken_bytes;
    if (arena_give(&b->small, offset - b->offset) != 0)
        return false;
    memory_current->devices[b->device].asked_bytes -= before - b->small.taken_bytes;
    small_has_room_at(owner->small[b->device], b->offset);
    if (b->small.count == 0)
        drop_block(b);
    return true;
}

void memory_give_all(struct owner *owner, int device)
{
    if (device < 0)
        bounds_forget(owner);
    for (int d = 0; d < memory_current->device_count; d++)
        for (int i = memory_current->devices[d].blocks.count - 1; i >= 0; i--) {
            struct block *b = memory_current->devices[d].blocks.range[i].user;
            if (b->owner == owner && (device < 0 || device == d))
                drop_block(b);
        }
    chunk_cache_empty();
}

static void punch_hole(int fd, uint64_t from, uint64_t to)
{
    if (from < to)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
}

/* Contexts can write to the whole files, so pages outside allocations are returned, too. */
void memory_reclaim(void)
{
    int blocks = 0;
    for (int d = 0; d < memory_current->device_count; d++) {
        const struct arena *a = &memory_current->devices[d].blocks;
        uint64_t at = 0;
        for (int i = 0; i < a->count; i++) {
            punch_hole(memory_current->devices[d].fd, at, a->range[i].offset);
            at = a->range[i].offset +
                 (a->range[i].bytes + VGPU_CHUNK_BYTES - 1) / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
        }
        punch_hole(memory_current->devices[d].fd, at, memory_current->devices[d].bytes);
        blocks += a->count;
    }
    if (blocks == 0) /* then the control tables describe no block */
        punch_hole(memory_current->control_fd, offsetof(struct vgpu_control, chunk),
                   sizeof *memory_current->control);
}

void memory_each_block(const struct owner *owner, int device,
                       void (*visit)(const struct block *block, void *context), void *context)
{
    const struct arena *blocks = &memory_current->devices[device].blocks;
    for (int i = 0; i < blocks->count; i++) {
        const struct block *b = blocks->range[i].user;
        if (b->owner == owner)
            visit(b, context);
    }
}

/* The mapping of [offset, +bytes) of the block's device, committed; NULL: it is not inside of the
 * block, or the limit is reached. */
static uint8_t *view_block(const struct block *b, uint64_t offset, uint64_t bytes)
{
    if (!b || bytes == 0 || offset + bytes > b->offset + b->bytes)
        return NULL;
    return memory_commit(b->device, offset, bytes)
               ? memory_current->devices[b->device].base + offset
               : NULL;
}

static bool is_untouched(const struct block *b, uint64_t offset, uint64_t bytes)
{
    return b && bytes && !memory_was_used(b->device, offset, bytes);
}

/* Gives parts that were never used their contents: `n` bytes, and poison around them. Poison needs
 * no pages. False: one was used, the bytes are not in one chunk, or the limit is reached. */
static bool fill_fresh(const struct block *b, uint64_t offset, const uint8_t *bytes, uint64_t n)
{
    if (!is_untouched(b, offset, n) || n > VGPU_CHUNK_BYTES - offset % VGPU_CHUNK_BYTES ||
        offset + n > b->offset + b->bytes)
        return false;
    return bytes == memory_current->poison || memory_commit_as(b->device, offset, bytes, n);
}

uint8_t *memory_view(uint64_t address, uint64_t bytes)
{
    uint64_t offset;
    const struct block *b = block_at(address, &offset);
    return view_block(b, offset, bytes);
}

const uint8_t *memory_source(uint64_t address, uint64_t bytes)
{
    uint64_t offset;
    const struct block *b = block_at(address, &offset);
    bool poison = bytes <= VGPU_CHUNK_BYTES && is_untouched(b, offset, bytes);
    return poison ? memory_poison(bytes) : view_block(b, offset, bytes);
}

uint8_t *memory_target(uint64_t address, const uint8_t *bytes, uint64_t n, bool *filled)
{
    uint64_t offset;
    const struct block *b = block_at(address, &offset);
    *filled = fill_fresh(b, offset, bytes, n);
    return *filled ? NULL : view_block(b, offset, n);
}

bool memory_fill_fresh(uint64_t address, const uint8_t *bytes, uint64_t n)
{
    uint64_t offset;
    const struct block *b = block_at(address, &offset);
    return fill_fresh(b, offset, bytes, n);
}

bool memory_untouched(uint64_t address, uint64_t bytes)
{
    uint64_t offset;
    const struct block *b = block_at(address, &offset);
    return is_untouched(b, offset, bytes);
}

bool memory_disown(uint64_t address)
{
    uint64_t offset;
    struct block *b = block_at(address, &offset);
    if (!b || b->shared || !b->owner || offset != b->offset)
        return false;
    b->owner->map_version++;
    b->owner = NULL;
    if (b->pool)
        pool_count(b->pool, -(int64_t)asked_bytes(b), -(int64_t)b->bytes);
    b->pool = NULL;
    return true;
}
