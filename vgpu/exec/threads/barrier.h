/* SPDX-License-Identifier: MIT
 * barrier.h: a thread left the kernel while others of its block wait.
 */
#ifndef VGPU_EXEC_BARRIER_H
#define VGPU_EXEC_BARRIER_H

#include "exec.h"

void barrier_left(struct block *block);

#endif
