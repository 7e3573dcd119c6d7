/* SPDX-License-Identifier: MIT
 * move.h: what copies and fills do to memory. Both say false when this computer's memory does not
 * suffice; what was moved by then is.
 */
#ifndef VGPU_MOVE_H
#define VGPU_MOVE_H

#include <stdbool.h>

#include "protocol.h"

struct process;

bool move_copy(struct process *process, const struct vgpu_copy *c);
bool move_fill(struct process *process, const struct vgpu_memset *m);

#endif
