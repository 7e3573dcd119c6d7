/* SPDX-License-Identifier: MIT
 * warp.h: lanes that wait for each other.
 */
#ifndef VGPU_EXEC_WARP_H
#define VGPU_EXEC_WARP_H

#include "exec.h"

/* A lane left the kernel while others wait. */
void warp_left(struct warp *warp);

/* Lanes that asked who is active, and no other can go on: those that stand at one place go on. */
void warp_converge(struct warp *warp);

#endif
