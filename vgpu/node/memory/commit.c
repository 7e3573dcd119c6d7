/* SPDX-License-Identifier: MIT
 * commit.c: commits chunks of device memory: at its first use a chunk gets pages of host memory,
 * filled with VGPU_POISON, as long as the limit permits.
 *
 * The memory that counts towards the limit is what the operating system reports for the memfds.
 * Contexts have these files, and device code can do anything with them: mark unused chunks as used,
 * use chunks without marking them, or punch holes. So the node queries the operating system again
 * whenever it has written much itself (memory_wrote), and while it waits for contexts
 * (memory_overrun).
 */
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "fd_info.h"
#include "device_memory.h"
#include "owner.h"
#include "chunk_cache.h"
#include "memory_state.h"

const uint8_t *memory_poison(void)
{
    uint8_t *chunk = memory_current->poison;
    if (memory_current->poisoned)
        return chunk;
    /* One page fault instead of 512. */
    (void)madvise(chunk, VGPU_CHUNK_BYTES, MADV_HUGEPAGE);
    memset(chunk, VGPU_POISON, VGPU_CHUNK_BYTES);
    memory_current->poisoned = true;
    return chunk;
}

/* Uses a write: one system call instead of 512 page faults. */
static bool write_chunk(int device, uint64_t chunk, uint64_t at, const uint8_t *bytes, uint64_t n)
{
    uint8_t *around = (uint8_t *)memory_poison();
    const struct iovec part[] = {
        {around, at}, {(uint8_t *)bytes, n}, {around, VGPU_CHUNK_BYTES - at - n}};
    return pwritev(memory_of(device)->fd, part, sizeof part / sizeof *part,
                   (off_t)(chunk * VGPU_CHUNK_BYTES)) == (ssize_t)VGPU_CHUNK_BYTES;
}

/* ---- the limit ---- */

/* Bytes that the node may write between two queries, and that contexts may have used in addition
 * by the next one. */
#define LOOK_BYTES (32ull << 20)
#define SLACK_BYTES (64ull << 20)
/* Limit of the control memfd's pages, more than correct kernels need. */
#define CONTROL_BYTES (256ull << 20)

uint64_t memory_limit_bytes(void)
{
    return memory_current->limit_bytes;
}

static uint64_t file_bytes(int fd)
{
    struct stat info;
    return fd_info(fd, &info) == 0 ? (uint64_t)info.st_blocks * 512 : 0;
}

uint64_t memory_held_bytes(void)
{
    uint64_t sum = 0;
    for (int d = 0; d < memory_current->device_count; d++)
        sum += file_bytes(memory_of(d)->fd);
    return sum;
}

bool memory_has_room(uint64_t bytes)
{
    if (memory_held_bytes() + bytes <= memory_current->limit_bytes)
        return true;
    chunk_cache_empty();
    return memory_held_bytes() + bytes <= memory_current->limit_bytes;
}

bool memory_wrote(uint64_t bytes)
{
    memory_current->unchecked_bytes += bytes;
    if (memory_current->unchecked_bytes < LOOK_BYTES)
        return true;
    memory_current->unchecked_bytes = 0;
    return memory_held_bytes() <= memory_current->limit_bytes + SLACK_BYTES;
}

bool memory_overrun(const struct owner *owner, char *why, int room)
{
    uint64_t held = memory_held_bytes(), host = file_bytes(owner->host_fd);
    uint64_t control = file_bytes(memory_control_fd());
    uint64_t most = memory_current->limit_bytes + SLACK_BYTES, taken = held > host ? held : host;
    if (taken <= most && control <= CONTROL_BYTES)
        return false;
    snprintf(why, (size_t)room,
             "device code has taken %llu MiB of this computer's memory, past the virtual node: its "
             "limit is %llu MiB (VGPU_MEMORY_LIMIT)",
             (unsigned long long)((control > CONTROL_BYTES ? control : taken) >> 20),
             (unsigned long long)(memory_current->limit_bytes >> 20));
    return true;
}

bool memory_commit_as(int device, uint64_t chunk, uint64_t at, const uint8_t *bytes, uint64_t n)
{
    struct vgpu_control *control = memory_control();
    if (control->chunk[device][chunk] || !memory_has_room(VGPU_CHUNK_BYTES) ||
        !write_chunk(device, chunk, at, bytes, n))
        return false;
    control->chunk[device][chunk] = 1;
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
        if (!memory_wrote(VGPU_CHUNK_BYTES))
            return false;
    }
    return true;
}
