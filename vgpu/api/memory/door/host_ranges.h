/* SPDX-License-Identifier: MIT
 * host_ranges.h: the table of the process's pinned, managed and registered host memory
 * (host_ranges.c), and staging buffers for pageable memory (staging.c).
 */
#ifndef VGPU_HOST_RANGES_H
#define VGPU_HOST_RANGES_H

#include "core.h"

struct vgpu__range {
    uint64_t address; /* the program's address */
    size_t bytes;
    int physical; /* device in whose context it was allocated */
    unsigned int flags;
    bool managed;
    uint64_t node; /* address at the node; differs for registered memory only */
    struct vgpu__range *next;
};

extern atomic_int vgpu__registered; /* number of ranges made by cudaHostRegister */

uint64_t vgpu__page_bytes(void);
size_t vgpu__whole_pages(size_t bytes);

/* Returns the address of the first page of a range, and stores the size of all its pages in *all.
 */
uint64_t vgpu__range_pages(uint64_t address, size_t bytes, size_t *all);

/* True if a page of [address, +bytes) already belongs to a range. */
bool vgpu__range_overlaps(uint64_t address, size_t bytes);

/* vgpu__range_add stores `range` in *r and adds it to the table. vgpu__range_take removes the range
 * that begins at `address` and returns it, as does vgpu__range_take_of for any range of the device.
 * NULL: there is none (of that kind). The caller frees what it has taken. */
void vgpu__range_add(struct vgpu__range *r, struct vgpu__range range);
struct vgpu__range *vgpu__range_take(uint64_t address, bool registered_one);

struct vgpu__range *vgpu__range_take_of(int physical);

static inline bool vgpu__range_is_registered(const struct vgpu__range *r)
{
    return r->node != r->address;
}

/* Maps [address, +bytes) of the process's pinned memory. False: not possible (reported on stderr).
 */
bool vgpu__map_host(uint64_t address, size_t bytes);

/* ---- queries about pointers ---- */

enum vgpu__place { VGPU__PAGEABLE, VGPU__PINNED, VGPU__DEVICE };
enum vgpu__place vgpu__place(const void *address);

/* The node's address of this memory: the same, except in memory registered by cudaHostRegister. */
uint64_t vgpu__node_address(const void *pointer);

/* True if [pointer, +bytes) lies in one allocation of managed memory. */
bool vgpu__managed(const void *pointer, size_t bytes);
/* Stores the bounds of the pinned, managed or registered range that contains `pointer`; false:
 * none. */
bool vgpu__host_range(const void *pointer, uint64_t *base, uint64_t *bytes);
int vgpu__host_owner(const void *pointer); /* physical device of its context; -1: none */
/* Stores the flags of the range that contains `pointer`; false: not pinned memory of this process.
 */
bool vgpu__host_flags(const void *pointer, unsigned int *flags);

/* ---- staging ---- */

/* A staging buffer: a range of pinned memory that holds pageable data for the duration of one call.
 * vgpu__stage_take sends requests, so call it before the request of the copy is begun; the caller
 * returns the buffer by vgpu__stage_give. */
struct vgpu__stage {
    uint64_t address; /* mapped in this process */
    size_t bytes;
    struct vgpu__stage *next;
};
cudaError_t vgpu__stage_take(size_t bytes, struct vgpu__stage **out);
void vgpu__stage_give(struct vgpu__stage *stage);

#endif
