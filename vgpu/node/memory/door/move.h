/* SPDX-License-Identifier: MIT
 * move.h: what copies and fills do to memory. One that ends early leaves what it has moved so far.
 */
#ifndef VGPU_MOVE_H
#define VGPU_MOVE_H

#include <stdbool.h>

#include "protocol.h"

struct owner;

enum moved {
    MOVED,
    MOVED_NO_MEMORY, /* host memory ran out */
    MOVED_TOO_LONG   /* it has kept the node for VGPU_KERNEL_SECONDS */
};

enum moved move_copy(struct owner *owner, const struct vgpu_copy *c);
enum moved move_fill(struct owner *owner, const struct vgpu_memset *m);

#endif
