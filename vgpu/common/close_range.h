/* SPDX-License-Identifier: MIT
 * close_range.h: closes all descriptors of a range, also where the C library (before glibc 2.34) or
 * Linux (before 5.9) has no close_range.
 */
#ifndef VGPU_CLOSE_RANGE_H
#define VGPU_CLOSE_RANGE_H

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void vgpu_close_range(unsigned first, unsigned last)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0) == 0)
        return;
#endif
    struct rlimit most;
    rlim_t end = getrlimit(RLIMIT_NOFILE, &most) == 0 ? most.rlim_max : 1 << 20;
    for (rlim_t fd = first; fd <= last && fd < end && fd < 1 << 20; fd++)
        close((int)fd);
}

#endif
