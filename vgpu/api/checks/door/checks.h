/* SPDX-License-Identifier: MIT
 * checks.h: mistakes that the program can make without a call failing, and who looks for them:
 * errors that nobody looks at (unchecked_errors.c), descriptors left open (descriptors.c), host
 * code that uses memory that a GPU may still use (guard.c). They hear of calls as observers.
 */
#ifndef VGPU_CHECKS_H
#define VGPU_CHECKS_H

#include "observer.h"

/* A diagnosis of our own: the node counts it and hands it back to be said, once for each key. */
void vgpu__finding(uint32_t diagnosis, const char *call, uint64_t key, const char *text);

/* A descriptor for memory is handed out. */
void vgpu__descriptor_given(int fd);
/* One that the program gave, to be sent (a number that is none cannot be); -1: an error, recorded.
 */
int vgpu__descriptor_copy(const char *call, int fd);
/* The node's answer came without the one that belongs to it. */
cudaError_t vgpu__descriptor_missing(const char *call);

/* The memory is given back, or the library itself uses it: whoever watches its pages lets go. */
void vgpu__guard_drop(uint64_t address, size_t bytes);

extern const struct vgpu__observer vgpu__unchecked_errors, vgpu__open_descriptors, vgpu__guard;

#endif
