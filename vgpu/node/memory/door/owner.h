/* SPDX-License-Identifier: MIT
 * owner.h: the memory-related part of a program: the owner of allocations, with its host memory (a
 * memfd mapped by the node, the program and its contexts) and its memory pools. It is part of
 * struct process, which makes and ends it; allocations point to it and are freed before it ends.
 */
#ifndef VGPU_OWNER_H
#define VGPU_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "door.h"
#include "protocol.h"

struct pool;

/* Speeds up small allocations of a program on a GPU: no block of the program below `from` has a gap
 * of `bytes`. One entry for each power of two; bytes 0: nothing known. */
struct small_hint {
    uint64_t bytes, from;
};
enum { SMALL_HINTS = 12 }; /* for 1 to 2048 granules */

struct owner {
    /* Incremented by every change of what contexts may access. */
    uint64_t map_version;
    int host_fd;
    uint8_t *host_base;    /* the node's mapping of the host memory */
    struct arena host;     /* pinned allocations and staging buffers */
    uint64_t thread_doors; /* those of host threads that are taken, as bits */
    struct pool *pools;
    uint64_t waits; /* calls of its threads that waited (pool.c) */
    struct small_hint small[VGPU_MAX_DEVICES][SMALL_HINTS]; /* device_memory.c */
    /* The primary context exists, which uses memory of the GPU. */
    bool context[VGPU_MAX_DEVICES];
    /* Returns true if the program has ended, so that work for it is pointless; NULL: always false.
     */
    bool (*is_gone)(const struct owner *owner);
    struct owner *next;
};

/* What its kernel has done so far, VGPU_STATUS_BYTES of text, which the program reads. */
char *owner_status(struct owner *owner);

/* Its doors (VGPU_DOOR_VA) as the node sees them. owner_take_door returns the number of the
 * first of two closed doors for a host thread, or 0 if all are taken. */
struct vgpu_door *owner_door(struct owner *owner, int number);
int owner_take_door(struct owner *owner);
void owner_give_door(struct owner *owner, int number); /* 0 is allowed */

/* Values of `user` in ranges of host memory. Pinned memory has NULL. */
/* Staging: no context maps it, and it is not counted. */
extern const char host_staging;
extern const char host_managed; /* cudaMallocManaged */
extern const char host_objects; /* texture and surface objects; not counted */
/* True if the program itself allocated the range, and so must free it. */
bool host_asked_for(const struct arena_range *range);
/* Any other value: memory of cudaHostRegister, which contexts map at `va`. */
struct host_alias {
    uint64_t va;
};
const struct host_alias *
host_alias(const struct arena_range *range); /* NULL: not registered memory */

/* Makes the host memory of an owner, whose other fields must be zero; `is_gone` as above. False,
 * with errno: failed. */
bool owner_start(struct owner *owner, bool (*is_gone)(const struct owner *owner));
void owner_end(struct owner *owner);

/* Call it when the part of the owner's memory that contexts may access has changed. Contexts update
 * their mappings before their next kernel. */
void owner_mappings_changed(struct owner *owner);

/* The primary context of `device` exists from now on, or no longer. */
void owner_set_context(struct owner *owner, int device, bool exists);

/* The owner made last; all others are linked by `next`. */
struct owner *owner_first(void);

/* The device of a node address; -1 for host memory. */
int memory_device_of(uint64_t address);

/* The node's mapping of [address, +bytes) for this owner. NULL: not its memory, or the limit is
 * reached. */
uint8_t *owner_view(struct owner *owner, uint64_t address, uint64_t bytes);

/* Writes a large piece into the owner's host memory by a system call, which avoids a page fault for
 * each page. False: nothing was written, because the piece is small or not in host memory. `bytes`
 * must not be in that memory. */
bool owner_write(struct owner *owner, uint64_t address, const uint8_t *bytes, uint64_t n);

#endif
