/* SPDX-License-Identifier: MIT
 * bounds_table.c: see bounds_table.h.
 */
#include "bounds_table.h"

#include <stddef.h>
#include <sys/mman.h>

const uint16_t *bounds_tail;

bool bounds_attach(int control_fd)
{
    void *where = (void *)BOUNDS_PARTIAL_VA; /* NOLINT */
    bounds_tail = context.control->tail;
    return mmap(where, sizeof context.control->partial, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE,
                control_fd, offsetof(struct vgpu_control, partial)) != MAP_FAILED;
}
