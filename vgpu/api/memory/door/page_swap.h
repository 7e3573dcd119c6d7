/* SPDX-License-Identifier: MIT
 * page_swap.h: pages of the program become pages of the process's host memfd, or private ones
 * again, at the same address, while other threads go on using them.
 *
 * A store of another thread to a page whose contents are being copied waits until the new page is
 * there, and goes there: the pages can only be read meanwhile, and the handler of SIGSEGV waits. A
 * system call that stores there (read into a buffer on that page) fails with EFAULT instead, and a
 * thread that has blocked SIGSEGV must not store there. Nothing of ours does either.
 */
#ifndef VGPU_PAGE_SWAP_H
#define VGPU_PAGE_SWAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "observer.h"

/* Whole pages; the calling thread's stack may be among them. False with errno: nothing changed. */
bool vgpu__swap_out(uint64_t first, size_t bytes, off_t offset); /* of the host memfd */
bool vgpu__swap_home(uint64_t first, size_t bytes);

/* Does a mapping with MAP_SHARED hold one of the pages? Other processes see it, too; once swapped,
 * they would see no store of this one any more. */
bool vgpu__swap_would_part(uint64_t first, size_t bytes);

extern const struct vgpu__observer vgpu__page_swap; /* around a fork; stores that wait */

#endif
