/* SPDX-License-Identifier: MIT
 * usage.h: what each program has asked of the node, kept where it outlives the node (node_usage.h).
 */
#ifndef VGPU_USAGE_H
#define VGPU_USAGE_H

#include <stdbool.h>

#include "node_usage.h"

/* Keeps it from now on in the memory file `fd`, which has room for a struct vgpu_usage_page. False:
 * errno says why it cannot be mapped. Without this call it is kept in the node's own memory. */
bool usage_start(int fd);

/* Of the next program; and of connections that belong to none yet. */
struct vgpu_usage *usage_next(void);
struct vgpu_usage *usage_of_newcomers(void);

/* The largest value so far. */
static inline void usage_at_least(uint64_t *most, uint64_t value)
{
    *most = value > *most ? value : *most;
}

#endif
