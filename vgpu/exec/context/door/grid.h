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

/* "(x,y,z)"; returns as snprintf. */
static inline int dim3_text(char *text, uint64_t room, struct vgpu_dim3 at)
{
    return snprintf(text, room, "(%u,%u,%u)", at.x, at.y, at.z);
}

#endif
