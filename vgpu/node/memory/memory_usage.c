/* SPDX-License-Identifier: MIT
 * memory_usage.c: the amount of allocated device memory (device_memory.h).
 */
#include "device_memory.h"

struct usage {
    int count;
    uint64_t bytes;
};

static void add_used_block(const struct block *b, void *context)
{
    struct usage *u = context;
    u->count += b->variables || b->dying ? 0 : b->shared ? b->small.count : 1;
    u->bytes += b->variables || b->dying ? 0 : b->bytes;
}

int memory_count(const struct owner *owner, uint64_t *bytes)
{
    struct usage u = {0};
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        memory_each_block(owner, d, add_used_block, &u);
    *bytes = u.bytes;
    return u.count;
}

static void add_block_bytes(const struct block *b, void *context)
{
    *(uint64_t *)context += b->bytes;
}

uint64_t memory_bytes_of(const struct owner *owner, int device)
{
    uint64_t bytes = owner->context[device] ? CONTEXT_BYTES : 0;
    memory_each_block(owner, device, add_block_bytes, &bytes);
    return bytes;
}

uint64_t memory_used_bytes(int device)
{
    return memory_of(device)->blocks.taken_bytes;
}

uint64_t memory_asked_bytes(int device)
{
    return memory_of(device)->asked_bytes;
}
