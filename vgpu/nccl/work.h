/* SPDX-License-Identifier: MIT
 * work.h: arguments of the kernels, and the layout of a region.
 *
 * A rank's region holds a mailbox for every rank that sends to it. A mailbox has NCCL_SLOTS slots,
 * filled in turn, and a counter of filled slots, which the sender increments. The counter of
 * emptied slots is in the sender's region and is incremented by the receiver, so each rank polls
 * only its own memory. Counters never decrease. A kernel returns when everything it sent has been
 * received, so no other rank accesses the region of a rank whose kernels have ended.
 */
#ifndef VGPU_NCCL_WORK_H
#define VGPU_NCCL_WORK_H

#include <stddef.h>
#include <stdint.h>

enum { NCCL_MAX_RANKS = 16, NCCL_SLOTS = 2, NCCL_SLOT_BYTES = 256 * 1024 };

enum nccl_kind {
    NCCL_ALL_REDUCE,
    NCCL_REDUCE_SCATTER,
    NCCL_ALL_GATHER,
    NCCL_BROADCAST,
    NCCL_REDUCE,
    NCCL_SEND_RECV
};

/* The sender's description of a slot's contents, which the receiver compares with its own. */
struct nccl_label {
    uint32_t kind, elements;
};

/* A counter for each other rank, in a cache line of its own. */
struct nccl_counter {
    uint64_t value;
    struct nccl_label label[NCCL_SLOTS]; /* used in `filled` only */
    char pad[64 - sizeof(uint64_t) - NCCL_SLOTS * sizeof(struct nccl_label)];
};

struct nccl_region {
    /* Written by rank x: slots filled in x's mailbox here. */
    struct nccl_counter filled[NCCL_MAX_RANKS];
    /* Written by rank x: slots emptied in this rank's mailbox at x. */
    struct nccl_counter emptied[NCCL_MAX_RANKS];
    struct nccl_counter sent[NCCL_MAX_RANKS];  /* own: slots filled at x */
    struct nccl_counter taken[NCCL_MAX_RANKS]; /* own: slots received from x */
    char slot[NCCL_MAX_RANKS][NCCL_SLOTS][NCCL_SLOT_BYTES];
};

/* The rank of a kernel, and the regions of all ranks. */
struct nccl_place {
    int rank, ranks;
    struct nccl_region *region[NCCL_MAX_RANKS];
};

/* All operations of one's own: behind the last of ncclRedOp_t. */
enum { NCCL_SCALED_SUM = 5 };

struct nccl_ring {
    enum nccl_kind kind;
    int type, op; /* ncclDataType_t, ncclRedOp_t or NCCL_SCALED_SUM */
    int root;
    size_t count; /* elements, as in the call */
    const void *send;
    void *recv;
    uint64_t scalar;       /* of NCCL_SCALED_SUM: its bits, unless it lies */
    const void *scalar_at; /* here, in device memory */
};

struct nccl_transfer {
    const void *send; /* NULL: a receive */
    void *recv;
    size_t bytes;
    int peer;
};

/* The work of one block: transfers first .. first + count - 1 in order, all with the same peer and
 * in the same direction. */
struct nccl_lane {
    int first, count;
};

/* Of so few transfers the tables are an argument of the kernel: a graph that is captured may then
 * hold it. On GPUs before Volta, a kernel's arguments take at most 4096 bytes. */
enum { NCCL_TABLE_TRANSFERS = 100 };

struct nccl_table {
    struct nccl_lane lane[2 * NCCL_MAX_RANKS];
    struct nccl_transfer transfer[NCCL_TABLE_TRANSFERS];
};

#endif
