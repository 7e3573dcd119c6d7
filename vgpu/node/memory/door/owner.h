/* SPDX-License-Identifier: MIT
 * owner.h: a program as far as memory goes: whose allocations these are, its host memory (one
 * memfd, which the node, the program and its contexts map), its memory pools. Part of struct
 * process, which makes and ends it; allocations point to it, and are given back before its end.
 */
#ifndef VGPU_OWNER_H
#define VGPU_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "protocol.h"

struct pool;

/* Where a program's small allocations on one GPU need not look: no block of its own below `from`
 * has a gap of `bytes`. An entry a power of two; bytes 0: nothing is known. */
struct small_hint {
    uint64_t bytes, from;
};
enum { SMALL_HINTS = 12 }; /* of 1 to 2048 granules */

struct owner {
    uint64_t map_version; /* grows with every change of what contexts may touch */
    int host_fd;
    uint8_t *host_base; /* the node's view of the host memory */
    struct arena host;  /* pinned allocations and staging ranges */
    struct pool *pools;
    struct small_hint small[VGPU_MAX_DEVICES][SMALL_HINTS]; /* device_memory.c */
    bool context[VGPU_MAX_DEVICES]; /* the primary context exists: it takes memory of the GPU */
    /* Whether its program has gone, so that work for it is of no use; NULL: it is there. */
    bool (*is_gone)(const struct owner *owner);
    struct owner *next;
};

/* What a range of the host memory is for: its `user`. Pinned memory has none. */
extern char host_staging; /* the driver's own: no context maps it, and it is not counted */
extern char host_managed; /* cudaMallocManaged */
struct host_alias {       /* any other user: cudaHostRegister's; contexts see it at `va` */
    uint64_t va;
};
const struct host_alias *host_alias(const struct arena_range *range); /* NULL: not registered */

/* Makes the host memory of an owner, all of whose other fields are zero; `is_gone` as above. False:
 * errno says why. */
bool owner_start(struct owner *owner, bool (*is_gone)(const struct owner *owner));
void owner_end(struct owner *owner);

/* What contexts may touch of its memory has changed: before their next kernel they map it anew. */
void owner_mappings_changed(struct owner *owner);

/* The primary context of `device` exists from now on, or no longer. */
void owner_set_context(struct owner *owner, int device, bool exists);

/* All of them: the one that was made last; the others follow by `next`. */
struct owner *owner_first(void);

/* Device of a node address, -1 for host memory. */
int memory_device_of(uint64_t address);

/* The node's view of [address, +bytes) for this owner, or NULL (not its memory, or no room). */
uint8_t *owner_view(struct owner *owner, uint64_t address, uint64_t bytes);

/* Large pieces go into the owner's host memory by one system call, which meets no page after the
 * other. False: small, or no host memory; nothing was written. `bytes` is not of that memory. */
bool owner_write(struct owner *owner, uint64_t address, const uint8_t *bytes, uint64_t n);

#endif
