/* SPDX-License-Identifier: MIT
 * memory_limit.c: see memory_limit.h.
 */
#include "memory_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cgroup.h"
#include "number.h"

uint64_t memory_available(const char *root)
{
    uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t share = cgroup_memory_bytes(root);
    return share < all ? share : all;
}

uint64_t memory_limit(char *error, int room)
{
    const char *text = getenv("VGPU_MEMORY_LIMIT");
    uint64_t bytes = 0;
    if (!text || !*text)
        return memory_available("") / 2;
    if (!vgpu_size(text, &bytes) || bytes == 0)
        snprintf(error, (size_t)room,
                 "VGPU_MEMORY_LIMIT=%s is not a size: expected a number of bytes, or a number with "
                 "K, M or G, such as 2G",
                 text);
    return bytes;
}
