/* SPDX-License-Identifier: MIT
 * host_ranges.h: the table of the process's pinned, managed and registered host memory
 * (host_ranges.c), and ranges that carry pageable memory to the node and back (staging.c).
 */
#ifndef VGPU_HOST_RANGES_H
#define VGPU_HOST_RANGES_H

#include "core.h"

struct vgpu__range {
    uint64_t address; /* as the program sees it */
    size_t bytes;
    int physical; /* whose context it belongs to */
    unsigned int flags;
    bool managed;
    uint64_t node; /* where it is for the node: elsewhere only where it was registered */
    struct vgpu__range *next;
};

extern atomic_int vgpu__registered; /* ranges that cudaHostRegister made */

uint64_t vgpu__page_bytes(void);
size_t vgpu__whole_pages(size_t bytes);

/* The pages that hold a range: where they begin, and how many bytes they have. */
uint64_t vgpu__range_pages(uint64_t address, size_t bytes, size_t *all);

/* Does a page of [address, +bytes) belong to a range already? */
bool vgpu__range_overlaps(uint64_t address, size_t bytes);

/* Puts a range into the table, in the memory `r`; takes the one that begins at `address` out of it
 * (NULL: there is none of that kind). */
void vgpu__range_add(struct vgpu__range *r, struct vgpu__range range);
struct vgpu__range *vgpu__range_take(uint64_t address, bool registered_one);

struct vgpu__range *vgpu__range_take_of(int physical); /* any of that device; NULL: none is left */

static inline bool vgpu__range_is_registered(const struct vgpu__range *r)
{
    return r->node != r->address;
}

/* Maps [address, address + bytes) of the process's pinned memory. False: not possible (said). */
bool vgpu__map_host(uint64_t address, size_t bytes);

/* ---- what a pointer points to ---- */

enum vgpu__place { VGPU__PAGEABLE, VGPU__PINNED, VGPU__DEVICE };
enum vgpu__place vgpu__place(const void *address);

/* What the node calls the address: the same, but for memory that cudaHostRegister shared. */
uint64_t vgpu__node_address(const void *pointer);

/* Does [pointer, +bytes) lie in one live allocation of managed memory? */
bool vgpu__managed(const void *pointer, size_t bytes);
/* The pinned, managed or registered memory that it lies in. */
bool vgpu__host_range(const void *pointer, uint64_t *base, uint64_t *bytes);
int vgpu__host_owner(const void *pointer); /* physical device it was allocated under, -1: none */
/* Flags of the range that holds it; false: it is not pinned memory of this process. */
bool vgpu__host_flags(const void *pointer, unsigned int *flags);

/* ---- staging ---- */

/* A range that carries pageable memory, for the time of one call; *out is the caller's until given
 * back. Sends requests: take it before the copy's own request is begun. */
struct vgpu__stage {
    uint64_t address; /* mapped */
    size_t bytes;
    struct vgpu__stage *next;
};
cudaError_t vgpu__stage_take(size_t bytes, struct vgpu__stage **out);
void vgpu__stage_give(struct vgpu__stage *stage);

#endif
