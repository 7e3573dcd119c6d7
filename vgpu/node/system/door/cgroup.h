/* SPDX-License-Identifier: MIT
 * cgroup.h: the memory limit of this process's control groups.
 */
#ifndef VGPU_CGROUP_H
#define VGPU_CGROUP_H

#include <stdint.h>

/* The lowest limit of its control groups (version 2 or 1), from its own up to the root; UINT64_MAX:
 * none. `root` is "", or a folder that a test uses in place of /. */
uint64_t cgroup_memory_bytes(const char *root);

#endif
