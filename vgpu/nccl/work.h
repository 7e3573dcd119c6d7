/* SPDX-License-Identifier: MIT
 * work.h: what kernels are told, and how a region is laid out.
 *
 * A rank's region holds a mailbox for every rank that sends to it: NCCL_SLOTS slots, filled in
 * turn, and a counter of filled ones, which the sender moves. The counter of emptied ones lies in
 * the sender's region and is moved by the receiver, so everybody polls its own memory only.
 * Counters only grow; a kernel returns when all that it sent was taken, so nobody touches the
 * region of a rank whose kernels are over.
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

/* What a slot holds, as its sender saw it: the receiver compares. */
struct nccl_label {
    uint32_t kind, elements;
};

/* Counters: index is the other rank. On lines of their own. */
struct nccl_counter {
    uint64_t value;
    struct nccl_label label[NCCL_SLOTS]; /* with `filled` only */
    char pad[64 - sizeof(uint64_t) - NCCL_SLOTS * sizeof(struct nccl_label)];
};

struct nccl_region {
    struct nccl_counter filled[NCCL_MAX_RANKS];  /* by rank x: slots of x's mailbox here */
    struct nccl_counter emptied[NCCL_MAX_RANKS]; /* by rank x: slots of my mailbox at x */
    struct nccl_counter sent[NCCL_MAX_RANKS];    /* mine: how many I filled at x */
    struct nccl_counter taken[NCCL_MAX_RANKS];   /* mine: how many I took from x */
    char slot[NCCL_MAX_RANKS][NCCL_SLOTS][NCCL_SLOT_BYTES];
};

/* Who a kernel is, and where the others are. */
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
    size_t count; /* as the call's */
    const void *send;
    void *recv;
    uint64_t scalar;       /* of NCCL_SCALED_SUM: its bits, unless it lies */
    const void *scalar_at; /* here, in device memory */
};

struct nccl_transfer {
    const void *send; /* or null: a receive */
    void *recv;
    size_t bytes;
    int peer;
};

/* What one block does: transfers first .. first + count - 1, one after the other, all between the
 * same two ranks in the same direction. */
struct nccl_lane {
    int first, count;
};

#endif
