/* SPDX-License-Identifier: MIT
 * ancestry.h: who descends from whom.
 */
#ifndef VGPU_ANCESTRY_H
#define VGPU_ANCESTRY_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether `pid` was started, directly or not, by `ancestor`, which is another process. False, too,
 * where the operating system does not tell. */
bool ancestry_has(pid_t pid, pid_t ancestor);

#endif
