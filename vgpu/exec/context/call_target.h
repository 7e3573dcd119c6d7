/* SPDX-License-Identifier: MIT
 * call_target.h: where device code may jump to by a pointer: functions of its images, and those
 * that these leave undefined.
 */
#ifndef VGPU_EXEC_CALL_TARGET_H
#define VGPU_EXEC_CALL_TARGET_H

#include <stdbool.h>
#include <stdint.h>

/* Takes in the functions of an image that was loaded at `base`; false: no memory. */
bool call_targets_add(int fd, uint64_t base);

#endif
