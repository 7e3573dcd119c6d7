/* SPDX-License-Identifier: MIT
 * pool.c: see pool.h.
 */
#include "pool.h"

#include <stdlib.h>

#include "process.h"
#include "server.h"

static struct pool *add(struct process *process, uint64_t id, int device)
{
    struct pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct pool){.id = id, .device = device, .reuse = {1, 1, 1}, .next = process->pools};
    process->pools = p;
    return p;
}

struct pool *pool_new(struct process *process, int device)
{
    static uint64_t next_id = VGPU_MAX_DEVICES + 1; /* below: the default pools */
    return add(process, next_id++, device);
}

struct pool *pool_find(struct process *process, uint64_t id)
{
    for (struct pool *p = process->pools; p; p = p->next)
        if (p->id == id)
            return p->destroyed ? NULL : p;
    bool is_default = id >= 1 && id <= (uint64_t)server_info()->device_count;
    return is_default ? add(process, id, (int)id - 1) : NULL;
}

void pool_free_all(struct process *process)
{
    for (struct pool *p = process->pools, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    process->pools = NULL;
}

bool pool_reaches(const struct pool *pool, int device)
{
    return device == pool->device || (pool->access >> device & 1);
}

void pool_count(struct pool *pool, int64_t used, int64_t reserved)
{
    pool->used += (uint64_t)used;
    pool->reserved += (uint64_t)reserved;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
}
