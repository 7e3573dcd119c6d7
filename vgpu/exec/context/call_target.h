/* SPDX-License-Identifier: MIT
 * call_target.h: valid targets of calls through pointers in device code: functions of its images,
 * and those that the images leave undefined.
 */
#ifndef VGPU_EXEC_CALL_TARGET_H
#define VGPU_EXEC_CALL_TARGET_H

#include <stdbool.h>
#include <stdint.h>

/* Adds the functions of an image that was loaded at `base`; false: out of memory. */
bool call_targets_add(int fd, uint64_t base);

#endif
