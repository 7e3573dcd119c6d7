/* SPDX-License-Identifier: MIT
 * page_swap.h: replaces pages of the program by pages of the process's host memfd, or by private
 * pages again, at the same address, while other threads use them.
 *
 * While the contents of a page are copied, the page is read-only. A store of another thread faults,
 * waits in the SIGSEGV handler until the new page is mapped, and is then repeated. Two things fail
 * instead: a system call that stores there (such as a read into a buffer on that page) returns
 * EFAULT, and a thread that has blocked SIGSEGV is killed by a store there. The runtime itself does
 * neither.
 */
#ifndef VGPU_PAGE_SWAP_H
#define VGPU_PAGE_SWAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "observer.h"

/* `first` and `bytes` are whole pages; the calling thread's stack may be among them. `offset` is
 * that of the pages in the host memfd. False, with errno: nothing has changed. */
bool vgpu__swap_out(uint64_t first, size_t bytes, off_t offset);
bool vgpu__swap_home(uint64_t first, size_t bytes);

/* True if one of the pages belongs to a MAP_SHARED mapping. Other processes may have it mapped,
 * too, and would no longer see stores of this process after a swap. */
bool vgpu__swap_would_part(uint64_t first, size_t bytes);

/* Holds the lock during a fork, and makes faulting stores wait. */
extern const struct vgpu__observer vgpu__page_swap;

#endif
