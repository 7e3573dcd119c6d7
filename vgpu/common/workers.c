/* SPDX-License-Identifier: MIT
 * workers.c: see workers.h.
 */
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

enum { MOST_WORKERS = 1024 };
static const char workers_variable[] = "VGPU_WORKERS", always[] = "always:";

static bool is_always(const char *text)
{
    return text && strncmp(text, always, sizeof always - 1) == 0;
}

/* False: neither a number nor `always:` and a number. */
static bool parse_workers(const char *text, uint64_t *count)
{
    return vgpu_number(is_always(text) ? text + sizeof always - 1 : text, 1, MOST_WORKERS, count);
}

void vgpu_workers(uint64_t *count)
{
    (void)parse_workers(getenv(workers_variable), count);
}

bool vgpu_workers_always(void)
{
    uint64_t count;
    const char *text = getenv(workers_variable);
    return is_always(text) && parse_workers(text, &count);
}

bool vgpu_workers_are_right(char *error, size_t room)
{
    uint64_t count;
    const char *text = getenv(workers_variable);
    if (!text || !*text || parse_workers(text, &count))
        return true;
    snprintf(error, room,
             "%s=%s is not valid: expected a number of processes, 1 to %d, such as 4, or always:4 "
             "if they are to take part in every kernel",
             workers_variable, text, MOST_WORKERS);
    return false;
}
