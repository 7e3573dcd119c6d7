/* SPDX-License-Identifier: MIT
 * interrupted.c: a library for LD_PRELOAD: a signal interrupts every other connect().
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int connect(int socket, const struct sockaddr *address, socklen_t bytes)
{
    static atomic_uint calls;
    if (atomic_fetch_add(&calls, 1) % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return (int)syscall(SYS_connect, socket, address, bytes);
}
