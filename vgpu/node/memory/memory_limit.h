/* SPDX-License-Identifier: MIT
 * memory_limit.h: how much of this computer's memory all GPUs of the node together may take.
 */
#ifndef VGPU_MEMORY_LIMIT_H
#define VGPU_MEMORY_LIMIT_H

#include <stdint.h>

/* What this process could have at most: a container's share may be less than the computer's memory.
 * /proc and /sys lie under `root`. */
uint64_t memory_there_is(const char *root);

/* Bytes: what VGPU_MEMORY_LIMIT says ("2G", "512M", "65536K" or bytes), else half of what there is:
 * of the memory that this computer has, or that its control groups leave it (cgroup.h).
 * 0: it says no size, and `error` holds a sentence. */
uint64_t memory_limit(char *error, int room);

#endif
