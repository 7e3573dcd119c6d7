/* SPDX-License-Identifier: MIT
 * pool.c: see pool.h.
 */
#include "fd_info.h"
#include "pool.h"

#include <stdlib.h>
#include <unistd.h>

#include "machine.h"
#include "device_memory.h"
#include "owner.h"
#include "memory_state.h"

enum { POOL_STEP = 32 << 20 }; /* size by which a pool grows on hardware (recorded) */

static struct pool *add_pool(struct owner *owner, uint64_t id, int device)
{
    struct pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct pool){
        .id = id, .device = device, .reuse = {1, 1, 1}, .name_fd = -1, .next = owner->pools};
    owner->pools = p;
    return p;
}

/* Lower ids are those of the default pools. */
static uint64_t new_pool_id(void)
{
    return VGPU_MAX_DEVICES + ++memory_current->pools;
}

struct pool *pool_new(struct owner *owner, int device)
{
    return add_pool(owner, new_pool_id(), device);
}

struct pool *pool_import(struct owner *owner, const struct pool *from)
{
    struct pool *p = add_pool(owner, new_pool_id(), from->device);
    if (p)
        p->origin = from->origin ? from->origin : from->id;
    return p;
}

int pool_name(struct pool *pool)
{
    if (pool->name_fd < 0)
        pool->name_fd = memory_sealed_fd("vgpu-pool", 4096);
    return pool->name_fd;
}

/* As in vmm_import: only the node can have made a descriptor with this inode. */
const struct pool *pool_named(int fd)
{
    struct stat asked, its;
    if (fd < 0 || fd_info(fd, &asked) != 0)
        return NULL;
    for (const struct owner *owner = owner_first(); owner; owner = owner->next)
        for (struct pool *p = owner->pools; p; p = p->next)
            if (!p->destroyed && p->name_fd >= 0 && fd_info(p->name_fd, &its) == 0 &&
                its.st_dev == asked.st_dev && its.st_ino == asked.st_ino)
                return p;
    return NULL;
}

struct pool *pool_find(struct owner *owner, uint64_t id)
{
    for (struct pool *p = owner->pools; p; p = p->next)
        if (p->id == id)
            return p->destroyed ? NULL : p;
    bool is_default = id >= 1 && id <= (uint64_t)machine->info.device_count;
    return is_default ? add_pool(owner, id, (int)id - 1) : NULL;
}

void pool_free_all(struct owner *owner)
{
    for (struct pool *p = owner->pools, *next; p; p = next) {
        next = p->next;
        if (p->name_fd >= 0)
            close(p->name_fd);
        free(p);
    }
    owner->pools = NULL;
}

bool pool_reaches(const struct pool *pool, int device)
{
    return device == pool->device || (pool->access >> device & 1);
}

static uint64_t whole_steps(uint64_t bytes)
{
    return (bytes + POOL_STEP - 1) / POOL_STEP * POOL_STEP;
}

bool pool_has_room(const struct pool *pool, uint64_t bytes)
{
    uint64_t most = whole_steps(pool->most);
    return most == 0 || (bytes <= most && pool->used <= most - bytes);
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

bool pool_grows(struct pool *pool, const struct owner *owner, uint64_t bytes)
{
    uint64_t used = whole_steps(pool->used), wanted = whole_steps(pool->used + bytes);
    if (pool->waits != owner->waits && pool->held > pool->threshold)
        pool->held = used > pool->threshold ? used : pool->threshold;
    pool->waits = owner->waits;
    if (wanted <= pool->held)
        return false;
    pool->held = wanted;
    return true;
}

void pool_owner_waits(struct owner *owner)
{
    owner->waits++;
}
