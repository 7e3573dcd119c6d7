/* SPDX-License-Identifier: MIT
 * memory_state.h: the state of this room. Each part belongs to one file.
 */
#ifndef VGPU_MEMORY_STATE_H
#define VGPU_MEMORY_STATE_H

#include "device_memory.h"

enum {
    FREED_REMEMBERED = 256,
    SPARE_CHUNKS = 16,
};

struct spare_chunk {
    int device;
    uint64_t chunk;
};

struct memory {
    /* device_memory.c */
    struct device_memory devices[VGPU_MAX_DEVICES];
    int device_count;
    int control_fd;
    struct vgpu_control *control;
    void (*released)(void *self, uint64_t home);
    void *released_self;

    uint64_t limit_bytes, unchecked_bytes; /* commit.c */
    struct owner *owners;                  /* owner.c */
    uint64_t pools;                        /* pool.c: pools made so far, without default pools */
    uint64_t serials;                      /* arena.c, vmm.c: ranges and mappings made so far */

    uint8_t *poison; /* commit.c: a chunk whose first `poisoned` bytes are VGPU_POISON */
    uint64_t poisoned;
    struct { /* move.c: a chunk that begins with the pattern of a fill */
        uint8_t *chunk;
        struct vgpu_memset pattern;
        uint64_t bytes; /* that have the pattern */
    } fill;

    struct {                                   /* bounds.c */
        struct pointee item[FREED_REMEMBERED]; /* ring buffer */
        uint64_t count;
    } freed;

    struct {                                   /* chunk_cache.c */
        struct spare_chunk item[SPARE_CHUNKS]; /* oldest first */
        int count;
    } spare;

    struct { /* sealed.c */
        uint8_t *base;
        uint64_t bytes, readable_bytes;
    } sealed;

    struct { /* vmm.c */
        struct arena ranges;
        struct vmm_handle *handles;
        struct vmm_mapping **mappings; /* sorted by address, which their `next` follows, too */
        int mapping_count, mapping_room;
        uint64_t ids;
    } vmm;

    struct { /* vmm_export.c */
        struct vmm_exported_end *first;
        /* epoll instance of the node's writing ends; -1: not made yet. */
        int ends;
    } exported;

    struct { /* ipc.c */
        struct ipc_export *exports;
        struct ipc_window *windows;
    } ipc;
};

extern struct memory *memory_current;

#endif
