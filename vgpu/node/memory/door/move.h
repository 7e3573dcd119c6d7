/* SPDX-License-Identifier: MIT
 * move.h: carries out copies and fills. If one ends early, the part done so far remains.
 */
#ifndef VGPU_MOVE_H
#define VGPU_MOVE_H

#include <stdbool.h>

#include "protocol.h"

struct owner;

enum moved {
    MOVED,
    MOVED_NO_MEMORY, /* host memory ran out */
    MOVED_TOO_LONG   /* took longer than VGPU_KERNEL_SECONDS */
};

enum moved move_copy(struct owner *owner, const struct vgpu_copy *c);
enum moved move_fill(struct owner *owner, const struct vgpu_memset *m);

#endif
