/* SPDX-License-Identifier: MIT
 * lane_run.h: runs kernels in the fast form (vgpu/common/lanes.h).
 *
 * A block runs in the fast form only if it is known beforehand that none of its threads can do
 * anything that only the careful form detects: every byte that its accesses can reach is mapped,
 * allocated, aligned, in one window per access, and writable if it is written; no division traps;
 * its loops end. So nothing has to be checked afterwards, and no block runs twice.
 */
#ifndef VGPU_EXEC_LANE_RUN_H
#define VGPU_EXEC_LANE_RUN_H

#include "exec.h"

/* The run begins or is resumed: decides whether it may have blocks in the fast form. */
void lanes_begin(struct run *run);

/* Runs some of the next blocks in the fast form. False: the next block must run in the careful
 * form, or there is none. */
bool lanes_go(struct run *run);

#endif
