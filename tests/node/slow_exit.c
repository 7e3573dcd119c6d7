/* SPDX-License-Identifier: MIT
 * slow_exit.c: a library for LD_PRELOAD that delays _exit(), as a busy machine would.
 */
#include <sys/syscall.h>
#include <unistd.h>

void _exit(int status)
{
    usleep(300000);
    for (;;)
        syscall(SYS_exit_group, status);
}
