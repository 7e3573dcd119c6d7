/* SPDX-License-Identifier: MIT
 * pool.h: memory pools, from which stream-ordered allocations come and which determine the GPUs
 * with access. Peer access between devices does not apply to them (recorded: [pool],
 * [pool_access]).
 *
 * Memory is freed when the free operation takes place. A pool keeps no unused memory, so every
 * allocation is newly poisoned. On hardware a pool keeps some, up to its release threshold; here
 * that only affects times (pool_grows).
 */
#ifndef VGPU_POOL_H
#define VGPU_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct owner;

struct pool {
    uint64_t id;
    int device;
    uint32_t access; /* bit d: GPU d has access, besides the pool's own */
    bool destroyed;  /* its allocations remain */
    bool shareable;  /* made with a handle type */
    uint64_t most;   /* limit in bytes, rounded up to chunks; 0: none */
    /* Imported pools: id of the exported pool; 0: the pool allocates itself. */
    uint64_t origin;
    /* A memfd whose inode identifies the pool to other processes; -1: none yet. */
    int name_fd;
    uint64_t used, used_high, reserved, reserved_high; /* bytes */
    uint64_t threshold;
    uint64_t held, waits; /* bytes kept on hardware; owner->waits when they were computed */
    /* cudaMemPoolReuse... attributes, which have no effect. */
    int reuse[3];
    struct pool *next;
};

/* Makes a pool, which is freed when its process ends; NULL: host memory ran out. */
struct pool *pool_new(struct owner *owner, int device);

/* The pool with this id (device + 1: the device's default pool), or NULL. */
struct pool *pool_find(struct owner *owner, uint64_t id);

/* The pool that `fd` identifies, of any process, or NULL. */
const struct pool *pool_named(int fd);
/* A descriptor that identifies the pool and remains the node's; -1: failed. */
int pool_name(struct pool *pool);
/* Makes an imported pool, which does not allocate but accepts imported pointers. */
struct pool *pool_import(struct owner *owner, const struct pool *from);
void pool_free_all(struct owner *owner);

bool pool_reaches(const struct pool *pool, int device);

/* True if the pool's limit (maxSize) permits `bytes` more. */
bool pool_has_room(const struct pool *pool, uint64_t bytes);

/* True if on hardware the pool would have to get memory from the driver to allocate `bytes` more.
 * At each wait of the program it returns unused memory beyond its threshold. */
bool pool_grows(struct pool *pool, const struct owner *owner, uint64_t bytes);
/* A call of the program waits. */
void pool_owner_waits(struct owner *owner);

/* Adds to the bytes in use: as requested, and in whole chunks. */
void pool_count(struct pool *pool, int64_t used, int64_t reserved);

#endif
