/* SPDX-License-Identifier: MIT
 * move.h: what copies and fills do to memory. What was moved by then is, also where one ends early.
 */
#ifndef VGPU_MOVE_H
#define VGPU_MOVE_H

#include <stdbool.h>

#include "protocol.h"

struct owner;

enum moved {
    MOVED,
    MOVED_NO_MEMORY, /* this computer's memory does not suffice */
    MOVED_TOO_LONG   /* it has kept the node for VGPU_KERNEL_SECONDS */
};

enum moved move_copy(struct owner *owner, const struct vgpu_copy *c);
enum moved move_fill(struct owner *owner, const struct vgpu_memset *m);

#endif
