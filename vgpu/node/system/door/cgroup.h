/* SPDX-License-Identifier: MIT
 * cgroup.h: how much memory the control groups of this process leave it.
 */
#ifndef VGPU_CGROUP_H
#define VGPU_CGROUP_H

#include <stdint.h>

/* The least limit of the groups that it is in, from its own up to the root, of version 2 or 1;
 * UINT64_MAX: none has one. `root` is "", or a folder that stands for / (a test's). */
uint64_t cgroup_memory_bytes(const char *root);

#endif
