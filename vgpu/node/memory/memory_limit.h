/* SPDX-License-Identifier: MIT
 * memory_limit.h: the limit of host memory for all GPUs of the node together.
 */
#ifndef VGPU_MEMORY_LIMIT_H
#define VGPU_MEMORY_LIMIT_H

#include <stdint.h>

/* The memory available to this process, which in a container may be less than the computer's. /proc
 * and /sys are looked up under `root`. */
uint64_t memory_available(const char *root);

/* The limit in bytes: VGPU_MEMORY_LIMIT ("2G", "512M", "65536K" or bytes), else half of the
 * available memory, which is that of the computer or of its control groups (cgroup.h). 0: the
 * variable is invalid; the reason is in `error`. */
uint64_t memory_limit(char *error, int room);

#endif
