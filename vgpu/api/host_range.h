/* SPDX-License-Identifier: MIT
 * host_range.h: the table of the process's pinned, managed and registered host memory
 * (host_memory.c), and what registering needs of it (host_register.c).
 */
#ifndef VGPU_HOST_RANGE_H
#define VGPU_HOST_RANGE_H

#include "runtime.h"

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

/* Ends what the process sees of a range; tells the node that it may have it. */
void vgpu__range_unmap(const struct vgpu__range *r);
void vgpu__range_give_back(const char *call, uint64_t address);

/* host_register.c: pages that were shared become the program's own again. */
void vgpu__range_take_home(const struct vgpu__range *r);

#endif
