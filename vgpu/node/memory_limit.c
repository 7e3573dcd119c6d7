/* SPDX-License-Identifier: MIT
 * memory_limit.c: see memory_limit.h.
 */
#include "memory_limit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "2G", "512M", "65536K" or bytes; 0 when it is none of these. */
static uint64_t size_of(const char *text)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    bool whole = end != text && *text != '-' && (unit ? end[1] == '\0' : *end == '\0');
    return whole && errno == 0 && number <= UINT64_MAX >> shift ? number << shift : 0;
}

uint64_t memory_limit(char *error, int room)
{
    const char *text = getenv("VGPU_MEMORY_LIMIT");
    if (!text || !*text)
        return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    uint64_t bytes = size_of(text);
    if (!bytes)
        snprintf(error, (size_t)room,
                 "VGPU_MEMORY_LIMIT=%s is no size: a number of bytes, or one with K, M or G, as 2G",
                 text);
    return bytes;
}
