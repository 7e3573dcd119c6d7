/* SPDX-License-Identifier: MIT
 * workers.h: VGPU_WORKERS=4 is how many processes may run one kernel's blocks. They take part when
 * a kernel has run for a while; with VGPU_WORKERS=always:4 they do in every kernel that allows it,
 * as soon as its first block has ended or pauses.
 */
#ifndef VGPU_WORKERS_H
#define VGPU_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stores the number of processes. *count stays if the variable is not set or is wrong. */
void vgpu_workers(uint64_t *count);

/* Whether they take part in every kernel. */
bool vgpu_workers_always(void);

/* False if the variable is set to anything else; the reason is stored in `error`. */
bool vgpu_workers_are_right(char *error, size_t room);

#endif
