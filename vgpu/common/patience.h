/* SPDX-License-Identifier: MIT
 * patience.h: how long a kernel may run without any progress.
 */
#ifndef VGPU_PATIENCE_H
#define VGPU_PATIENCE_H

/* Seconds of processor time: VGPU_KERNEL_SECONDS where it is a number from 1 to 86400, else 30. */
int vgpu_kernel_seconds(void);

#endif
