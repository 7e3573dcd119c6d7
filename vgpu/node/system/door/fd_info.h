/* SPDX-License-Identifier: MIT
 * fd_info.h: fstat by its own system call. C libraries ask newfstatat instead, with a path that a
 * filter of system calls cannot read: a node in a jail (jail.c) has fstat only.
 */
#ifndef VGPU_NODE_FD_INFO_H
#define VGPU_NODE_FD_INFO_H

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int fd_info(int fd, struct stat *info)
{
    return (int)syscall(SYS_fstat, fd, info);
}

#endif
