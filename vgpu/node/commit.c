/* SPDX-License-Identifier: MIT
 * commit.c: chunks of device memory get pages of this computer when they are first touched, filled
 * with VGPU_POISON, as long as the limit allows.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "memory.h"

static uint8_t poison[VGPU_CHUNK_BYTES] __attribute__((aligned(VGPU_CHUNK_BYTES)));

const uint8_t *memory_poison(void)
{
    if (poison[0] == VGPU_POISON)
        return poison;
    (void)madvise(poison, sizeof poison, MADV_HUGEPAGE); /* one page fault instead of 512 */
    memset(poison, VGPU_POISON, sizeof poison);
    return poison;
}

/* Written, not stored through the mapping: one system call instead of 512 page faults. */
static bool write_chunk(int device, uint64_t chunk, uint64_t at, const uint8_t *bytes, uint64_t n)
{
    uint8_t *around = (uint8_t *)memory_poison();
    const struct iovec part[] = {
        {around, at}, {(uint8_t *)bytes, n}, {around, VGPU_CHUNK_BYTES - at - n}};
    return pwritev(memory_of(device)->fd, part, sizeof part / sizeof *part,
                   (off_t)(chunk * VGPU_CHUNK_BYTES)) == (ssize_t)VGPU_CHUNK_BYTES;
}

bool memory_commit_as(int device, uint64_t chunk, uint64_t at, const uint8_t *bytes, uint64_t n)
{
    struct vgpu_control *control = memory_control();
    if (control->chunk[device][chunk] ||
        control->committed_bytes + VGPU_CHUNK_BYTES > control->commit_limit_bytes ||
        !write_chunk(device, chunk, at, bytes, n))
        return false;
    control->chunk[device][chunk] = 1;
    control->committed_bytes += VGPU_CHUNK_BYTES;
    return true;
}

bool memory_commit(int device, uint64_t chunk)
{
    return memory_control()->chunk[device][chunk] || memory_commit_as(device, chunk, 0, NULL, 0);
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
