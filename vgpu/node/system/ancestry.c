/* SPDX-License-Identifier: MIT
 * ancestry.c: see ancestry.h.
 */
#include "ancestry.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096 }; /* line of parents: a program may make a long one of its processes */

/* 0: it has none here, or has ended. */
static pid_t parent_of(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *rest = strrchr(text, ')'); /* the name in parentheses may hold anything */
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
