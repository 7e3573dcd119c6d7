/* SPDX-License-Identifier: MIT
 * pool.h: memory pools: where stream-ordered allocations come from, and which GPUs reach them. Peer
 * access between devices means nothing to them, as recorded ([pool], [pool_access]).
 *
 * Memory goes back to the GPU when its free takes place; no pool holds more than what is in use, so
 * that a release threshold has nothing to keep and every reuse is a fresh, poisoned allocation.
 */
#ifndef VGPU_POOL_H
#define VGPU_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct owner;

struct pool {
    uint64_t id;
    int device;
    uint32_t access; /* bit d: GPU d may read and write, beside the own one */
    bool destroyed;  /* its allocations live on */
    bool shareable;  /* made with a handle type */
    uint64_t most;   /* bytes, rounded up to chunks; 0: no limit */
    uint64_t origin; /* imported: the exporter's pool; 0: an own one, which allocates */
    int name_fd;     /* a memfd whose inode names it to other processes; -1: not yet */
    uint64_t used, used_high, reserved, reserved_high; /* bytes */
    uint64_t threshold;
    int reuse[3]; /* cudaMemPoolReuse...: as set; what they allow is never done */
    struct pool *next;
};

/* A new pool, or NULL. Owned by the process until its end. */
struct pool *pool_new(struct owner *owner, int device);

/* The pool of this id (device + 1: the device's default pool), or NULL. */
struct pool *pool_find(struct owner *owner, uint64_t id);

/* A pool that `fd` names, of another process or this one, or NULL. */
const struct pool *pool_named(int fd);
int pool_name(struct pool *pool); /* a descriptor that stays the node's, or -1 */
/* The process's view of another one's pool: it gives no memory, but takes in pointers. */
struct pool *pool_import(struct owner *owner, const struct pool *from);
void pool_free_all(struct owner *owner);

bool pool_reaches(const struct pool *pool, int device);

/* Does what the pool may hold (maxSize) suffice for so many bytes more? */
bool pool_has_room(const struct pool *pool, uint64_t bytes);

/* So many bytes more (or less) are in use, as asked for and as whole chunks. */
void pool_count(struct pool *pool, int64_t used, int64_t reserved);

#endif
