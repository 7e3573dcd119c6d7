/* SPDX-License-Identifier: MIT
 * fd_info.h: the fstat system call. C libraries use newfstatat instead, whose path a system call
 * filter cannot read, so a node in a jail (jail.c) permits fstat only.
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
