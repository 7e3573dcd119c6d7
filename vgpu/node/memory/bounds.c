/* SPDX-License-Identifier: MIT
 * bounds.c: see bounds.h. Only chunks that are partly allocated have entries, so a large allocation
 * has one, whatever its size.
 */
#include "bounds.h"
#include "memory_state.h"

#include <string.h>

static void set_tails(uint64_t address, uint64_t bytes, bool live)
{
    uint16_t *tail = &memory_control()->tail[(address - VGPU_ARENA_VA) / VGPU_GRANULE_BYTES];
    for (; bytes >= VGPU_GRANULE_BYTES; bytes -= VGPU_GRANULE_BYTES)
        *tail++ = live ? VGPU_GRANULE_BYTES : 0;
    if (bytes)
        *tail = live ? (uint16_t)bytes : 0;
}

static uint8_t *partial_flag(uint64_t address)
{
    return &memory_control()->partial[(address - VGPU_ARENA_VA) / VGPU_CHUNK_BYTES];
}

void bounds_map(int device, uint64_t offset, uint64_t live)
{
    uint64_t whole = live / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
    uint64_t last = VGPU_DEVICE_VA(device) + offset + whole;
    if (live && live == whole)
        return;
    set_tails(last, VGPU_CHUNK_BYTES, false);
    set_tails(last, live - whole, true);
    *partial_flag(last) = 1;
}

void bounds_unmap(int device, uint64_t offset, uint64_t bytes)
{
    memset(partial_flag(VGPU_DEVICE_VA(device) + offset), 0, bytes / VGPU_CHUNK_BYTES);
}

void bounds_take(int device, uint64_t offset, uint64_t bytes)
{
    set_tails(VGPU_DEVICE_VA(device) + offset, bytes, true);
}

void bounds_give(const struct pointee *gone)
{
    if (*partial_flag(gone->base) && gone->bytes < VGPU_CHUNK_BYTES)
        set_tails(gone->base, gone->bytes, false);
    struct pointee *kept =
        &memory_current->freed.item[memory_current->freed.count++ % FREED_REMEMBERED];
    *kept = *gone;
    kept->pool = NULL; /* the pool and the mapping may be freed before this entry */
    kept->mapping = NULL;
}

void bounds_forget(const struct owner *owner)
{
    for (int i = 0; i < FREED_REMEMBERED; i++)
        if (memory_current->freed.item[i].owner == owner)
            memory_current->freed.item[i] = (struct pointee){0};
}

bool bounds_freed(uint64_t address, struct pointee *out)
{
    for (uint64_t i = 0; i < FREED_REMEMBERED && i < memory_current->freed.count; i++) {
        *out = memory_current->freed.item[(memory_current->freed.count - 1 - i) % FREED_REMEMBERED];
        if (address - out->base < out->bytes)
            return true;
    }
    return false;
}

bool bounds_before(const struct owner *owner, uint64_t address, struct pointee *out)
{
    uint64_t low = address / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
    if (address < VGPU_ARENA_VA || address >= VGPU_ARENA_END)
        return false; /* below the device's first byte */
    uint64_t at = address / VGPU_GRANULE_BYTES * VGPU_GRANULE_BYTES;
    for (; at >= low; at -= VGPU_GRANULE_BYTES)
        if (memory_find(at, out) && out->owner == owner)
            return true;
    /* The block before may be a large one that fills its last chunk. */
    return memory_find(low - 1, out) && out->owner == owner;
}
