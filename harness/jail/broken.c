/* SPDX-License-Identifier: MIT
 * broken.c: ends lab-jail if something cannot be set up.
 */
#include "jail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void jail_broken(const struct jail_policy *policy, const char *what)
{
    char text[4600];
    int n = snprintf(text, sizeof text, "lab-jail failed: %s%s%s\n", what, errno ? ": " : "",
                     errno ? strerror(errno) : "");
    int fd = policy->report >= 0 ? policy->report : STDERR_FILENO;
    if (n > 0 && write(fd, text, (size_t)n) < 0)
        _exit(JAIL_BROKEN);
    _exit(JAIL_BROKEN);
}
