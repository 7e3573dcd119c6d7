/* SPDX-License-Identifier: MIT
 * ancestry.h: determines whether a process descends from another one.
 */
#ifndef VGPU_ANCESTRY_H
#define VGPU_ANCESTRY_H

#include <stdbool.h>
#include <sys/types.h>

/* True if `pid` was started, directly or indirectly, by `ancestor`, which is another process. False
 * also if the operating system does not show it. */
bool ancestry_has(pid_t pid, pid_t ancestor);

#endif
