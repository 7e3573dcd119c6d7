/* SPDX-License-Identifier: MIT
 * grid.h: indices of blocks and threads.
 */
#ifndef VGPU_EXEC_GRID_H
#define VGPU_EXEC_GRID_H

#include <stdio.h>

#include "exec.h"

/* blockIdx of the block with this number. */
static inline struct vgpu_dim3 run_block_index(const struct run *run, uint64_t number)
{
    uint64_t row = number / run->grid.x;
    return (struct vgpu_dim3){(uint32_t)(number % run->grid.x), (uint32_t)(row % run->grid.y),
                              (uint32_t)(row / run->grid.y)};
}

/* The number of the block of rank `rank` in the cluster with this number. */
static inline uint64_t run_cluster_block(const struct run *run, uint64_t cluster, uint32_t rank)
{
    struct vgpu_dim3 c = run->cluster;
    uint64_t columns = run->grid.x / c.x, rows = run->grid.y / c.y;
    uint64_t x = cluster % columns * c.x + rank % c.x;
    uint64_t y = cluster / columns % rows * c.y + rank / c.x % c.y;
    uint64_t z = cluster / columns / rows * c.z + rank / c.x / c.y;
    return (z * run->grid.y + y) * run->grid.x + x;
}

static inline bool run_same_cluster(const struct run *run, uint64_t number, uint64_t other)
{
    struct vgpu_dim3 c = run->cluster, a = run_block_index(run, number),
                     b = run_block_index(run, other);
    return a.x / c.x == b.x / c.x && a.y / c.y == b.y / c.y && a.z / c.z == b.z / c.z;
}

/* "(x,y,z)"; returns as snprintf. */
static inline int dim3_text(char *text, uint64_t room, struct vgpu_dim3 at)
{
    return snprintf(text, room, "(%u,%u,%u)", at.x, at.y, at.z);
}

#endif
