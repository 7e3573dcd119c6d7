/* SPDX-License-Identifier: MIT
 * commit.c: chunks of device memory get pages of this computer when they are first touched, filled
 * with VGPU_POISON, as long as the limit allows.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "memory.h"

bool memory_commit(int device, uint64_t chunk)
{
    static uint8_t pattern[VGPU_CHUNK_BYTES];
    if (memory_control()->chunk[device][chunk])
        return true;
    if (memory_control()->committed_bytes + VGPU_CHUNK_BYTES > memory_control()->commit_limit_bytes)
        return false;
    if (pattern[0] != VGPU_POISON)
        memset(pattern, VGPU_POISON, sizeof pattern);
    /* Written, not stored through the mapping: one system call instead of 512 page faults. */
    if (pwrite(memory_of(device)->fd, pattern, sizeof pattern, (off_t)(chunk * VGPU_CHUNK_BYTES)) !=
        (ssize_t)sizeof pattern)
        return false;
    memory_control()->chunk[device][chunk] = 1;
    memory_control()->committed_bytes += VGPU_CHUNK_BYTES;
    return true;
}

bool memory_copy_chunks(int device, uint64_t to, uint64_t from, uint64_t bytes)
{
    const struct device_memory *m = memory_of(device);
    for (uint64_t at = 0; at < bytes; at += VGPU_CHUNK_BYTES) {
        if (!memory_control()->chunk[device][(from + at) / VGPU_CHUNK_BYTES])
            continue;
        if (!memory_commit(device, (to + at) / VGPU_CHUNK_BYTES))
            return false;
        memcpy(m->base + to + at, m->base + from + at, VGPU_CHUNK_BYTES);
    }
    return true;
}
