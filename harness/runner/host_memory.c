/* SPDX-License-Identifier: MIT
 * host_memory.c: memory of the host that a student's file asks for, which a test can refuse. Its
 * calls come here because labcc.sh gives them these names; those of libraries do not.
 */
#include "runner.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void *lab_watched_malloc(size_t bytes);
void *lab_watched_calloc(size_t n, size_t each);
void *lab_watched_realloc(void *old, size_t bytes);

static int requests_left; /* 0: none fails */
static bool has_failed;

static bool is_refused(void)
{
    if (requests_left == 0 || --requests_left > 0)
        return false;
    errno = ENOMEM;
    return has_failed = true;
}

void *lab_watched_malloc(size_t bytes)
{
    return is_refused() ? NULL : malloc(bytes);
}

void *lab_watched_calloc(size_t n, size_t each)
{
    return is_refused() ? NULL : calloc(n, each);
}

void *lab_watched_realloc(void *old, size_t bytes)
{
    return is_refused() ? NULL : realloc(old, bytes);
}

void lab_fail_malloc(int k)
{
    has_failed = false;
    requests_left = k;
}

int lab_malloc_failed(void)
{
    requests_left = 0;
    return has_failed;
}
