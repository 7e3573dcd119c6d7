/* SPDX-License-Identifier: MIT
 * kernel_timeout.h: how long a kernel may run without progress.
 */
#ifndef VGPU_KERNEL_TIMEOUT_H
#define VGPU_KERNEL_TIMEOUT_H

#include <stdbool.h>
#include <stddef.h>

/* Seconds of processor time: VGPU_KERNEL_SECONDS if it is a number from 1 to 86400, else 30. */
int vgpu_kernel_seconds(void);

/* False if the variable is set to anything else; the reason is stored in `error`. */
bool vgpu_kernel_seconds_are_right(char *error, size_t room);

#endif
