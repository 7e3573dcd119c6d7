/* SPDX-License-Identifier: MIT
 * weak_table.h: what the contexts of a node share under VGPU_SCHEDULE=weak (vgpu/exec/weak): the
 * last stores of kernels, with the values that they replaced. It lies in the control memory; only
 * the running context uses it. Device code can overwrite it, so every index is reduced, and no walk
 * is longer than the table.
 *
 * A *view* says which of these stores a thread must not miss: it has a bit for each. Stores are
 * numbered; the bit of number n is n % VGPU_WEAK_STORES, and the store that had it before counts as
 * seen by all from then on.
 */
#ifndef VGPU_WEAK_TABLE_H
#define VGPU_WEAK_TABLE_H

#include <stdint.h>

/* Powers of two. */
enum { VGPU_WEAK_STORES = 4096, VGPU_WEAK_HEADS = 8192, VGPU_WEAK_RUNS = 64 };
enum { VGPU_WEAK_RELEASES = 4, VGPU_WEAK_GPUS = 16 };

struct vgpu_weak_view {
    uint64_t up_to; /* bits of stores from this number on are out of date */
    uint64_t bits[VGPU_WEAK_STORES / 64];
};

/* What a store publishes to threads that acquire it. */
struct vgpu_weak_release {
    int32_t scope;  /* 0 block, 1 GPU, 2 system */
    int32_t gpu;    /* of the thread that released; -1: of several */
    uint64_t block; /* its block; 0: of several */
    struct vgpu_weak_view view;
};

struct vgpu_weak_store {
    uint64_t number, before;   /* before: the next older one in the same list; 0: none */
    uint64_t home;             /* the 8 bytes, by where they lie; 0: void */
    uint64_t replaced, stored; /* their contents before and after it */
    uint64_t mask;             /* 0xff for each byte that it wrote */
    uint32_t releases;         /* how many of `release` are its own */
    uint32_t changes;          /* 1: an atomic's, which has read what is next in the list */
};

struct vgpu_weak_table {
    uint64_t next;               /* number of the next store; 0: none was made */
    struct vgpu_weak_view floor; /* of kernels so old that all others are after them */
    struct vgpu_weak_view run[VGPU_WEAK_RUNS]; /* what a kernel's threads had seen at their ends */
    struct vgpu_weak_view fence_system, fence_gpu[VGPU_WEAK_GPUS]; /* what fence.sc has ordered */
    uint64_t head[VGPU_WEAK_HEADS]; /* number of the newest store of a list */
    struct vgpu_weak_store store[VGPU_WEAK_STORES];
    struct vgpu_weak_release release[VGPU_WEAK_STORES][VGPU_WEAK_RELEASES];
};

#endif
