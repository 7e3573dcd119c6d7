/* SPDX-License-Identifier: MIT
 * checks.h: checks for mistakes that make no call fail: errors that the program does not check
 * (unchecked_errors.c), descriptors left open (descriptors.c), host code that uses memory which a
 * GPU may still use (guard.c). They observe calls through struct vgpu__observer, except that fills
 * call vgpu__check_fill_value themselves (fill_value.c).
 */
#ifndef VGPU_CHECKS_H
#define VGPU_CHECKS_H

#include "observer.h"

/* Reports a finding of this process. It is sent to the node, which counts it and returns it for
 * printing, once for each diagnosis and key. */
void vgpu__finding(uint32_t diagnosis, const char *call, uint64_t key, const char *text);

/* Records a descriptor of exported memory that the program has received. */
void vgpu__descriptor_given(int fd);
/* Duplicates a descriptor of the program, to send it to the node. -1: it is not open or cannot be
 * duplicated; the error is recorded. */
int vgpu__descriptor_copy(const char *call, int fd);
/* The node's reply lacks its descriptor: prints a message, records the error and returns it. */
cudaError_t vgpu__descriptor_missing(const char *call);

/* Reports a finding if `value` does not fit into the bytes that `call` has filled. */
void vgpu__check_fill_value(const char *call, int value);

/* Removes all guards from a range that is being freed or that the library itself is going to use.
 */
void vgpu__guard_drop(uint64_t address, size_t bytes);

extern const struct vgpu__observer vgpu__unchecked_errors, vgpu__open_descriptors, vgpu__guard;

#endif
