/* SPDX-License-Identifier: MIT
 * usage.h: counters of each program's use of the node, in memory that outlives the node
 * (node_usage.h).
 */
#ifndef VGPU_USAGE_H
#define VGPU_USAGE_H

#include <stdbool.h>

#include "node_usage.h"

/* Moves the counters to the memory file `fd`, which has room for a struct vgpu_usage_page. False,
 * with errno: it cannot be mapped. Without this call they are in the node's own memory. */
bool usage_start(int fd);

/* Counters of the next program, and of connections that belong to no program yet. */
struct vgpu_usage *usage_next(void);
struct vgpu_usage *usage_of_newcomers(void);

/* Raises *most to `value` if that is larger. */
static inline void usage_at_least(uint64_t *most, uint64_t value)
{
    *most = value > *most ? value : *most;
}

#endif
