/* SPDX-License-Identifier: MIT
 * device_memory.h: device memory and pinned host memory. The node alone makes, sizes and seals the
 * memfds.
 *
 * Device memory is taken in blocks of whole chunks (VGPU_CHUNK_BYTES). Allocations of up to half a
 * chunk share a block of their owner, 512 bytes apart, as recorded on hardware; larger ones have
 * blocks of their own. A chunk is committed and poisoned when it is first touched, here or in
 * a context; free gives its pages back, the latest ones later (chunk_cache.h).
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
    bool shared;            /* holds small allocations, in `small` */
    bool variables;         /* an image's __device__ variables: not the program's to free */
    struct arena small;
    struct pool *pool; /* stream-ordered memory: which GPUs reach it is the pool's to say */
    bool dying;        /* cudaFreeAsync was issued: its operation is in a stream */
    uint64_t caller;   /* the program's code that allocated it; a shared one's: `user` in `small` */
};

struct device_memory {
    int fd;
    uint8_t *base; /* the node's own view of all of it */
    uint64_t bytes;
    struct arena blocks;
    uint64_t asked_bytes; /* in allocations, each rounded to VGPU_GRANULE_BYTES */
    uint64_t looks;       /* blocks in which small allocations looked for room, so far */
};

/* The memory of all devices of a node, with the control page. NULL: `error` says why. memory_end:
 * no program has any of it any more. */
struct memory *memory_new(const struct vgpu_node_info *info, char *error, int error_room);
void memory_end(struct memory *memory);
/* All other calls of this room, those about owners, pools, mappings and IPC too, are about the
 * memory that this was called with last. */
void memory_use(struct memory *memory);
/* Both. 0, or -1 with a sentence in `error`. */
int memory_start(const struct vgpu_node_info *info, char *error, int error_room);

struct device_memory *memory_of(int device);
int memory_control_fd(void);
struct vgpu_control *memory_control(void);

/* cudaMalloc and cudaFree: an address, or 0 when there is no room (or too many bytes). */
uint64_t memory_take(struct owner *owner, int device, uint64_t bytes, uint64_t caller);
uint64_t memory_take_variables(struct owner *owner, int device, uint64_t bytes);
/* Whole chunks that no process owns and that have no address: an offset, or ARENA_NONE. */
uint64_t memory_take_free(int device, uint64_t bytes);
void memory_give_free(int device, uint64_t offset);
/* Copies whole chunks to chunks that memory_take_free gave; false: no room on this computer. */
bool memory_copy_chunks(int device, uint64_t to, uint64_t from, uint64_t bytes);
/* The allocation at `address` becomes chunks that no process owns; false: it shares its block. */
bool memory_disown(uint64_t address);
/* cudaMallocAsync: always blocks of its own. memory_die: a free of it is under way. */
uint64_t memory_take_pool(struct owner *owner, struct pool *pool, uint64_t bytes, uint64_t caller);
void memory_die(uint64_t address);
/* Calls `released` with the home (see below) of whatever is given back, before that;
 * memory_unwatch ends what was asked for with that `self`. */
void memory_watch(void (*released)(void *self, uint64_t home), void *self);
void memory_unwatch(const void *self);
bool memory_give(struct owner *owner, uint64_t address);
void memory_give_all(struct owner *owner, int device);        /* -1: on every device */
int memory_count(const struct owner *owner, uint64_t *bytes); /* live allocations */
uint64_t memory_used_bytes(int device);                       /* in allocations, whole chunks */
uint64_t memory_asked_bytes(int device); /* as asked for, each rounded to VGPU_GRANULE_BYTES */
uint64_t memory_free_bytes(int device);

/* What a device address points into, of whichever process. False: nothing. */
struct pointee {
    int device;
    uint64_t base, bytes; /* of the allocation */
    struct owner *owner;
    uint64_t home;                     /* the same for all mappings of one allocation */
    const struct vmm_mapping *mapping; /* VMM's, or of another process's memory: not cudaFree's;
                                          NULL: neither. Valid until it is unmapped */
    bool variables;                    /* an image's __device__ variables: nor these */
    int shown_on;                      /* the GPU that cudaPointerGetAttributes says */
    const struct pool *pool;           /* NULL: not of a pool */
    bool dying;
    uint64_t caller; /* where in the program's code it was allocated; 0: not known */
    uint64_t serial; /* this allocation, window or mapping, and none before or after it */
};
bool memory_find(uint64_t address, struct pointee *out);

/* Calls `visit` for every block of `owner` on `device`, lowest address first. */
void memory_each_block(const struct owner *owner, int device,
                       void (*visit)(const struct block *block, void *context), void *context);

/* The node's view of [address, address + bytes), committed; the range must lie in one block. NULL
 * when it does not, or when the host's memory limit is reached. */
uint8_t *memory_view(uint64_t address, uint64_t bytes);

/* ---- commit.c ---- */

/* How much of this computer's memory the devices' may take together, and what they hold of it. */
uint64_t memory_limit_bytes(void);
uint64_t memory_held_bytes(void);
/* May they take so much more? Gives spare pages back for it. */
bool memory_has_room(uint64_t bytes);
/* The node has written so much to device memory. False: more is held than may be. */
bool memory_wrote(uint64_t bytes);
/* Device code, or the program, has taken more behind the node's back, and `why` says how much. */
bool memory_overrun(const struct owner *owner, char *why, int room);
/* Gives back what is in no allocation. */
void memory_reclaim(void);

/* VGPU_CHUNK_BYTES of VGPU_POISON. */
const uint8_t *memory_poison(void);
/* The chunk has pages afterwards. False: no room. */
bool memory_commit(int device, uint64_t chunk);
/* The chunk, which had none, has pages with `n` bytes from its byte `at` on, and poison around
 * them. False: it had some, or no room (memory_commit then says the same). */
bool memory_commit_as(int device, uint64_t chunk, uint64_t at, const uint8_t *bytes, uint64_t n);
/* The same for `n` bytes at `address`. False, too, when they are not in one chunk of a device. */
bool memory_fill_fresh(uint64_t address, const uint8_t *bytes, uint64_t n);
bool memory_untouched(uint64_t address,
                      uint64_t bytes); /* no byte of its chunks was ever touched */

int memory_sealed_fd(const char *name, uint64_t bytes); /* a sparse memfd sealed against resizing */

#endif
