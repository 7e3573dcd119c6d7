/* SPDX-License-Identifier: MIT
 * memory.h: device memory and pinned host memory. The node alone makes, sizes and seals the memfds.
 *
 * Device memory is taken in blocks of whole chunks (VGPU_CHUNK_BYTES). Allocations of up to half a
 * chunk share a block of their process, 512 bytes apart, as recorded on hardware; larger ones have
 * blocks of their own. A chunk is committed and poisoned when it is first touched, here or in
 * a context; free gives its pages back, the latest ones later (spare.h).
 */
#ifndef VGPU_MEMORY_H
#define VGPU_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "protocol.h"

struct process;
struct pool;

struct block {
    struct process *owner;
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
};

/* Makes the memory of all devices and the control page. 0, or -1 with a sentence in `error`. */
int memory_start(const struct vgpu_node_info *info, char *error, int error_room);

struct device_memory *memory_of(int device);
int memory_control_fd(void);
struct vgpu_control *memory_control(void);

/* cudaMalloc and cudaFree: an address, or 0 when there is no room (or too many bytes). */
uint64_t memory_take(struct process *owner, int device, uint64_t bytes, uint64_t caller);
uint64_t memory_take_variables(struct process *owner, int device, uint64_t bytes);
/* Whole chunks that no process owns and that have no address: an offset, or ARENA_NONE. */
uint64_t memory_take_free(int device, uint64_t bytes);
void memory_give_free(int device, uint64_t offset);
/* Copies whole chunks to chunks that memory_take_free gave; false: no room on this computer. */
bool memory_copy_chunks(int device, uint64_t to, uint64_t from, uint64_t bytes);
/* The allocation at `address` becomes chunks that no process owns; false: it shares its block. */
bool memory_disown(uint64_t address);
/* cudaMallocAsync: always blocks of its own. memory_die: a free of it is under way. */
uint64_t memory_take_pool(struct process *owner, struct pool *pool, uint64_t bytes,
                          uint64_t caller);
void memory_die(uint64_t address);
bool memory_give(struct process *owner, uint64_t address);
void memory_give_all(struct process *owner, int device);        /* -1: on every device */
int memory_count(const struct process *owner, uint64_t *bytes); /* live allocations */
uint64_t memory_used_bytes(int device);                         /* in allocations, whole chunks */
uint64_t memory_asked_bytes(int device); /* as asked for, each rounded to VGPU_GRANULE_BYTES */
uint64_t memory_free_bytes(int device);

/* What a device address points into, of whichever process. False: nothing. */
struct pointee {
    int device;
    uint64_t base, bytes; /* of the allocation */
    struct process *owner;
    uint64_t home;           /* the same for all mappings of one allocation */
    bool mapped;             /* by VMM, or another process's: not cudaFree's */
    int shown_on;            /* the GPU that cudaPointerGetAttributes says */
    const struct pool *pool; /* NULL: not of a pool */
    bool dying;
    uint64_t caller; /* where in the program's code it was allocated; 0: not known */
};
bool memory_find(uint64_t address, struct pointee *out);

/* Calls `visit` for every block of `owner` on `device`, lowest address first. */
void memory_each_block(const struct process *owner, int device,
                       void (*visit)(const struct block *block, void *context), void *context);

/* The node's view of [address, address + bytes), committed; the range must lie in one block. NULL
 * when it does not, or when the host's memory limit is reached. */
uint8_t *memory_view(uint64_t address, uint64_t bytes);

/* ---- commit.c ---- */

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
