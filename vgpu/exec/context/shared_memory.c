/* SPDX-License-Identifier: MIT
 * shared_memory.c: __shared__ memory: a slot of the shared window for each resident block.
 *
 * A slot is mapped up to the most shared memory of a block; the addresses between two slots are
 * unmapped. The dynamic part comes first; the objects follow in the order of their first use by the
 * block. All of it is poisoned for every block.
 */
#include "shared_memory.h"

#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOT_STRIDE = 1 << 20 };

/* The fast form's slot, the last whose addresses have 32 bits. Around it are pages that can be
 * read: a vector of a load under a condition touches them in threads for which it is false, and
 * where nothing is mapped that takes the processor a hundred times as long. */
enum { FAST_SLOT = 4095, AROUND = 16 << 10 };

static int32_t *free_slots; /* ~slot: it is closed for all accesses */
static uint32_t free_count, slot_count, slot_room;

static char *slot_base(const struct block *block)
{
    return (char *)(WINDOW_VA(WINDOW_SHARED) +
                    (uint64_t)block->shared.slot * SLOT_STRIDE); /* NOLINT */
}

static uint64_t slot_bytes(void)
{
    return (context.limits.shared_per_block + 4095) & ~4095ull;
}

static void no_memory(void)
{
    fault_raise(VGPU_FAULT_INTERNAL, 0, false, 0,
                "no memory for the shared memory of %u resident blocks (%s)", slot_count,
                strerror(errno));
}

static void fast_slot_take(struct block *block)
{
    static bool mapped;
    block->shared.slot = FAST_SLOT;
    if (mapped)
        return;
    const volatile char *first = slot_base(block) - AROUND;
    uint64_t bytes = slot_bytes() + 2 * AROUND;
    if (mmap(slot_base(block) - AROUND, bytes, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
             0) == MAP_FAILED ||
        mprotect(slot_base(block), slot_bytes(), PROT_READ | PROT_WRITE) != 0) {
        block->shared.slot = -1;
        no_memory();
    }
    for (uint64_t at = 0; at < AROUND; at += 4096)
        (void)(first[at] + first[bytes - 1 - at]);
    mapped = true;
}

static void slot_take(struct block *block)
{
    if (block->shared.is_fast) {
        fast_slot_take(block);
        return;
    }
    if (free_count) {
        int32_t slot = free_slots[--free_count];
        block->shared.slot = slot < 0 ? ~slot : slot;
        if (slot < 0 && mprotect(slot_base(block), slot_bytes(), PROT_READ | PROT_WRITE) != 0)
            no_memory();
        return;
    }
    if (slot_count == slot_room) {
        uint32_t room = slot_room ? 2 * slot_room : 64;
        int32_t *list = realloc(free_slots, room * sizeof *list);
        if (!list)
            no_memory();
        free_slots = list;
        slot_room = room;
    }
    slot_count += slot_count == FAST_SLOT;
    block->shared.slot = (int32_t)slot_count;
    if (mmap(slot_base(block), slot_bytes(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
             0) == MAP_FAILED) {
        block->shared.slot = -1;
        no_memory();
    }
    slot_count++;
}

/* A block takes its slot when it first uses shared memory: most blocks of most large kernels never
 * do. */
static char *block_slot(struct block *block)
{
    if (block->shared.slot < 0) {
        slot_take(block);
        memset(slot_base(block), VGPU_POISON, block->run->shared_bytes);
        block->shared.used = block->run->shared_bytes;
    }
    return slot_base(block);
}

void shared_start(struct block *block, bool is_fast)
{
    block->shared.is_fast = is_fast;
    block->shared.slot = -1;
    block->shared.used = 0;
    if (block->shared.object_count)
        memset(block->shared.objects, 0, sizeof block->shared.objects);
    block->shared.object_count = 0;
}

/* Other blocks of its cluster may still have addresses in the slot: those are invalid now. */
void shared_end(struct block *block)
{
    int32_t slot = block->shared.slot;
    if (slot < 0)
        return;
    bool close = !block->shared.is_fast && block->run->cluster_blocks > 1 &&
                 mprotect(slot_base(block), slot_bytes(), PROT_NONE) == 0;
    block->shared.slot = -1;
    if (!block->shared.is_fast)
        free_slots[free_count++] = close ? ~slot : slot;
}

static void *place_object(struct block *block, struct shared_object *object, uint32_t id,
                          uint32_t bytes, uint32_t align)
{
    char *base = block_slot(block);
    uint64_t step = align ? align : 1;
    uint64_t at = (block->shared.used + step - 1) / step * step;
    if (at + bytes > context.limits.shared_per_block)
        fault_raise(VGPU_FAULT_MEMORY, 0, false, 0,
                    "a block of %s needs %llu bytes of shared memory (%u of them dynamic); the GPU "
                    "has %llu for a block",
                    block->run->kernel->name, (unsigned long long)(at + bytes),
                    block->run->shared_bytes, (unsigned long long)context.limits.shared_per_block);
    block->shared.used = (uint32_t)(at + bytes);
    memset(base + at, VGPU_POISON, bytes);
    *object = (struct shared_object){id, bytes, align, base + at};
    block->shared.object_count++;
    return object->at;
}

bool shared_holds(const struct block *block, uint64_t first, uint64_t end)
{
    uint64_t base = (uint64_t)slot_base(block);
    return block->shared.slot >= 0 && first >= base && end <= base + block->shared.used;
}

uint32_t shared_describe(uint64_t address, uint32_t *offset)
{
    const struct block *block = now.block;
    uint64_t base = (uint64_t)slot_base(block);
    *offset = 0;
    if (block->shared.slot < 0 || address - base >= SLOT_STRIDE)
        return 0;
    for (uint32_t i = 0; i < SHARED_OBJECTS; i++) {
        const struct shared_object *object = &block->shared.objects[i];
        *offset = (uint32_t)(address - (uint64_t)object->at);
        if (object->at && *offset < object->bytes)
            return object->bytes;
    }
    *offset = (uint32_t)(address - base);
    return block->run->shared_bytes;
}

/* Two instances of a template share an id and differ in size: both are the key. */
static void *object_of(struct block *block, uint32_t id, uint32_t bytes, uint32_t align)
{
    for (uint32_t i = 0; i < SHARED_OBJECTS; i++) {
        struct shared_object *object = &block->shared.objects[(id + i) % SHARED_OBJECTS];
        if (!object->at)
            return place_object(block, object, id, bytes, align);
        if (object->id == id && object->bytes == bytes)
            return object->at;
    }
    fault_raise(VGPU_FAULT_INTERNAL, 0, false, 0,
                "a block of %s uses more than %d __shared__ variables: join some in a struct",
                block->run->kernel->name, SHARED_OBJECTS);
}

OFFERED void *vgpu_dynamic_shared(void)
{
    return block_slot(now.block);
}

OFFERED void *vgpu_shared(uint32_t id, uint32_t bytes, uint32_t align)
{
    return object_of(now.block, id, bytes, align);
}

void *shared_counterpart(const struct block *own, uint64_t address, struct block *other)
{
    uint64_t at = address - (uint64_t)slot_base(own);
    if (own->shared.slot < 0 || at > own->shared.used)
        return NULL;
    if (at >= own->run->shared_bytes)
        for (uint32_t i = 0; i < SHARED_OBJECTS; i++) {
            const struct shared_object *o = &own->shared.objects[i];
            if (o->at && address - (uint64_t)o->at < o->bytes)
                return (char *)object_of(other, o->id, o->bytes, o->align) +
                       (address - (uint64_t)o->at);
        }
    return block_slot(other) + at;
}

bool shared_is_of(const struct block *block, uint64_t address)
{
    return block->shared.slot >= 0 && address - (uint64_t)slot_base(block) < SLOT_STRIDE;
}
