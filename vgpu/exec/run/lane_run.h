/* SPDX-License-Identifier: MIT
 * lane_run.h: the fast form of kernels (vgpu/common/lanes.h): who runs in it.
 *
 * A block runs in the fast form where it is known beforehand that none of its threads can do what
 * only the careful form sees: every byte that its accesses can reach is mapped, allocated, aligned,
 * of one window an access, and may be written where it is; no division traps; its loops end. So
 * there is nothing to find out afterwards, and no block runs twice.
 */
#ifndef VGPU_EXEC_LANE_RUN_H
#define VGPU_EXEC_LANE_RUN_H

#include "exec.h"

/* The run begins, or goes on: may it have blocks in the fast form? */
void lanes_begin(struct run *run);

/* Runs some of the next blocks in the fast form. False: the next one is to run in the careful form,
 * or there is none. */
bool lanes_go(struct run *run);

#endif
