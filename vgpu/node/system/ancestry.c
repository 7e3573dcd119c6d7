/* SPDX-License-Identifier: MIT
 * ancestry.c: see ancestry.h.
 */
#include "ancestry.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limit of the chain of parents, since a program may make a long one. */
enum { LONGEST = 4096 };

/* 0: it has no parent in this pid namespace, or has ended. */
static pid_t parent_of(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *rest =
        strrchr(text, ')'); /* the process name in parentheses may contain any character */
    return rest && strlen(rest) > 4 ? (pid_t)strtol(rest + 4, NULL, 10) : 0;
}

bool ancestry_has(pid_t pid, pid_t ancestor)
{
    for (int i = 0; i < LONGEST && pid > 0; i++) {
        pid = parent_of(pid);
        if (pid == ancestor)
            return true;
    }
    return false;
}
