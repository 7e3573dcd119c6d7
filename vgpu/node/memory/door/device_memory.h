/* SPDX-License-Identifier: MIT
 * device_memory.h: device memory and pinned host memory. Only the node creates, resizes and seals
 * the memfds.
 *
 * Device memory is allocated in blocks of whole chunks (VGPU_CHUNK_BYTES). Allocations of up to
 * half a chunk share blocks of their owner, at multiples of 512 bytes, as recorded on hardware;
 * larger ones have blocks of their own. A chunk is committed and poisoned at its first use, in
 * parts (VGPU_PART_BYTES), by the node and by contexts. Freeing a chunk returns its pages,
 * sometimes later (chunk_cache.h).
 */
#ifndef VGPU_DEVICE_MEMORY_H
#define VGPU_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "owner.h"
#include "protocol.h"

struct pool;

struct block {
    struct owner *owner;
    int device;
    uint64_t offset, bytes; /* whole chunks */
    bool shared;            /* contains small allocations, in `small` */
    bool variables;         /* an image's variables, which the program cannot free */
    struct arena small;
    /* Stream-ordered memory: the pool determines which GPUs have access. */
    struct pool *pool;
    bool dying; /* cudaFreeAsync was issued; the operation is in a stream */
    /* Return address of the allocating call; in a shared block, that is `user` in `small`. */
    uint64_t caller;
};

struct device_memory {
    int fd;
    uint8_t *base; /* the node's mapping of all of it */
    uint64_t bytes;
    struct arena blocks;
    /* Sum of the allocations' sizes, each rounded up to VGPU_GRANULE_BYTES. */
    uint64_t asked_bytes;
    /* Blocks examined for small allocations so far. */
    uint64_t looks;
};

/* The memory of all devices of a node, with the control page. NULL: failed, with the reason in
 * `error`. memory_end: all programs' memory must have been freed. */
struct memory *memory_new(const struct vgpu_node_info *info, char *error, int error_room);
void memory_end(struct memory *memory);
/* Selects the memory that all other calls of this room refer to, including those about owners,
 * pools, mappings and IPC. */
void memory_use(struct memory *memory);
/* memory_new and memory_use. Returns 0, or -1 with the reason in `error`. */
int memory_start(const struct vgpu_node_info *info, char *error, int error_room);

struct device_memory *memory_of(int device);
int memory_control_fd(void);
struct vgpu_control *memory_control(void);

/* Allocates for cudaMalloc, and for an image's variables: returns an address, or 0 if there is no
 * room. */
uint64_t memory_take(struct owner *owner, int device, uint64_t bytes, uint64_t caller);
uint64_t memory_take_variables(struct owner *owner, int device, uint64_t bytes);
/* Allocates whole chunks that no process owns and that have no address; returns an offset, or
 * ARENA_NONE. */
uint64_t memory_take_free(int device, uint64_t bytes);
void memory_give_free(int device, uint64_t offset);
/* Copies whole chunks to chunks of memory_take_free. False: host memory ran out. */
bool memory_copy_chunks(int device, uint64_t to, uint64_t from, uint64_t bytes);
/* Turns the allocation at `address` into chunks that no process owns. False: it shares its block.
 */
bool memory_disown(uint64_t address);
/* memory_take_pool allocates for cudaMallocAsync, always a block of its own. memory_die: a free of
 * the allocation has been issued. */
uint64_t memory_take_pool(struct owner *owner, struct pool *pool, uint64_t bytes, uint64_t caller);
void memory_die(uint64_t address);
/* Calls `released` with the home (see struct pointee) of each allocation before it is freed;
 * memory_unwatch removes the callback registered with this `self`. */
void memory_watch(void (*released)(void *self, uint64_t home), void *self);
void memory_unwatch(const void *self);
bool memory_give(struct owner *owner, uint64_t address);
void memory_give_all(struct owner *owner, int device);        /* device -1: on all devices */
int memory_count(const struct owner *owner, uint64_t *bytes); /* number of live allocations */
uint64_t memory_used_bytes(int device);                       /* allocated bytes, in whole chunks */
/* Requested bytes, each allocation rounded up to VGPU_GRANULE_BYTES. */
uint64_t memory_asked_bytes(int device);
uint64_t memory_free_bytes(int device);
uint64_t memory_bytes_of(const struct owner *owner, int device); /* context and allocations */
#define CONTEXT_BYTES (512ull << 20) /* device memory used by a context */

/* The allocation that a device address belongs to, of any process. */
struct pointee {
    int device;
    uint64_t base, bytes; /* of the allocation */
    struct owner *owner;
    /* Identifies the memory: equal for all mappings of one allocation. */
    uint64_t home;
    /* A VMM mapping, or a window to another process's memory, which cudaFree refuses; NULL:
     * neither. Valid until it is unmapped. */
    const struct vmm_mapping *mapping;
    /* The block of an image's variables, which cudaFree refuses, too. */
    bool variables;
    int shown_on;            /* device that cudaPointerGetAttributes returns */
    const struct pool *pool; /* NULL: not from a pool */
    bool dying;
    uint64_t caller; /* return address of the allocating call; 0: unknown */
    /* Unique number of this allocation, window or mapping. */
    uint64_t serial;
};
bool memory_find(uint64_t address, struct pointee *out);

/* Calls `visit` for every block of `owner` on `device`, in order of address. */
void memory_each_block(const struct owner *owner, int device,
                       void (*visit)(const struct block *block, void *context), void *context);

/* The node's mapping of [address, +bytes), committed; the range must lie in one block. NULL if it
 * does not, or if the memory limit is reached. */
uint8_t *memory_view(uint64_t address, uint64_t bytes);

/* Both sides of a copy, each address looked up once. memory_source: the bytes to read, which are
 * memory_poison() if their parts were never used. memory_target: the bytes to write; but if they
 * are in parts of one chunk that were never used, these get their contents at once (*filled). Else
 * NULL: as for memory_view. */
const uint8_t *memory_source(uint64_t address, uint64_t bytes);
uint8_t *memory_target(uint64_t address, const uint8_t *bytes, uint64_t n, bool *filled);

/* ---- commit.c ---- */

/* The limit of host memory for all devices together, and the host memory that they use. */
uint64_t memory_limit_bytes(void);
uint64_t memory_held_bytes(void);
/* True if they may use `bytes` more; returns cached pages if that is needed. */
bool memory_has_room(uint64_t bytes);
/* The node has written `bytes` to device memory. False: the limit is exceeded. */
bool memory_wrote(uint64_t bytes);
/* True, with the reason in `why`, if device code or the program has used more memory than allowed
 * without the node's involvement. */
bool memory_overrun(const struct owner *owner, char *why, int room);
/* Returns all pages that are in no allocation. */
void memory_reclaim(void);

/* VGPU_POISON, a chunk (VGPU_CHUNK_BYTES) at most. */
const uint8_t *memory_poison(uint64_t bytes);
/* Commits the parts of [offset, +bytes). False: the limit is reached. */
bool memory_commit(int device, uint64_t offset, uint64_t bytes);
/* Commits the parts of [offset, +n), which have no pages and are in one chunk, with these bytes,
 * surrounded by poison. False: one had pages, or the limit is reached (memory_commit then fails,
 * too). */
bool memory_commit_as(int device, uint64_t offset, const uint8_t *bytes, uint64_t n);
/* Whether the part at `offset` is committed, and where the next one begins; whether any part of
 * [offset, +bytes) is. memory_uncommit: no part of the chunk is any more. */
bool memory_is_committed(int device, uint64_t offset);
uint64_t memory_next_part(uint64_t offset);
bool memory_was_used(int device, uint64_t offset, uint64_t bytes);
void memory_uncommit(int device, uint64_t chunk);
/* The same for `n` bytes at `address`. False also if they are not in one chunk of a device. */
bool memory_fill_fresh(uint64_t address, const uint8_t *bytes, uint64_t n);
/* True if no part of the range was ever used. */
bool memory_untouched(uint64_t address, uint64_t bytes);

/* Makes a sparse memfd that is sealed against resizing. */
int memory_sealed_fd(const char *name, uint64_t bytes);

#endif
