/* SPDX-License-Identifier: MIT
 * node_usage.h: what each program has asked of a node, in a page that the node shares with the
 * process that started it (vgpu-node --usage-fd). It can be read when the node has failed. The node
 * writes it, and may have been taken over: a reader tells these numbers and decides nothing by
 * them.
 */
#ifndef VGPU_NODE_USAGE_H
#define VGPU_NODE_USAGE_H

#include <stdint.h>

enum { VGPU_USAGE_PROGRAMS = 64 };

struct vgpu_usage {
    uint64_t requests;    /* messages received */
    uint64_t malformed;   /* of these: refused for their length, their time or a number in them */
    uint64_t unread;      /* the most replies of one connection that lay unread at a time */
    uint64_t operations;  /* the most that were queued at a time */
    uint64_t rows;        /* of all copies and fills */
    uint64_t bad_answers; /* refused, of the processes that run its kernels */
};

struct vgpu_usage_page {
    struct vgpu_usage program[VGPU_USAGE_PROGRAMS]; /* [0]: of connections without a program; the
                                                       last one: of all later programs, too */
};

#endif
