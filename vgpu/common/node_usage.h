/* SPDX-License-Identifier: MIT
 * node_usage.h: counters of each program's use of a node, in a page that the node shares with the
 * process that started it (vgpu-node --usage-fd), which can read it after the node has failed. The
 * node writes the page and may have been compromised, so a reader may print these numbers but must
 * not base decisions on them.
 */
#ifndef VGPU_NODE_USAGE_H
#define VGPU_NODE_USAGE_H

#include <stdint.h>

enum { VGPU_USAGE_PROGRAMS = 64 };

struct vgpu_usage {
    uint64_t requests;    /* messages received */
    uint64_t malformed;   /* of these: refused for their length, rate or a field's value */
    uint64_t unread;      /* most unread replies of one connection at a time */
    uint64_t operations;  /* most operations queued at a time */
    uint64_t rows;        /* rows of all copies and fills */
    uint64_t bad_answers; /* invalid replies of the processes that run its kernels */
};

struct vgpu_usage_page {
    /* [0]: connections without a program. The last entry is shared by all later programs. */
    struct vgpu_usage program[VGPU_USAGE_PROGRAMS];
};

#endif
