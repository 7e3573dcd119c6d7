/* SPDX-License-Identifier: MIT
 * commit.c: see commit.h.
 */
#include "commit.h"

#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "mapped_memory.h"

static uint32_t *commit_lock; /* NULL: no other process commits chunks */
static uint32_t commit_self;

/* Poisons those parts of a chunk. Written through the file, not a mapping: a system call for
 * adjacent parts in place of a page fault for each page. */
static bool poison_parts(int fd, uint64_t offset, uint32_t parts)
{
    static uint8_t pattern[VGPU_PART_BYTES];
    struct iovec part[VGPU_PARTS];
    if (pattern[0] != VGPU_POISON)
        memset(pattern, VGPU_POISON, sizeof pattern);
    for (unsigned i = 0; i < VGPU_PARTS; i++)
        part[i] = (struct iovec){pattern, sizeof pattern};
    for (unsigned first = 0, count; first < VGPU_PARTS; first += count + 1) {
        for (count = 0; first + count < VGPU_PARTS && parts >> (first + count) & 1;)
            count++;
        if (count && pwritev(fd, part, (int)count, (off_t)(offset + first * sizeof pattern)) !=
                         (ssize_t)(count * sizeof pattern))
            return false;
    }
    return true;
}

/* Host memory that all devices' memory takes, as the operating system counts it. */
static uint64_t held_bytes(void)
{
    uint64_t sum = 0;
    struct stat info;
    for (int d = 0; d < context.device_count; d++)
        sum += fstat(context.memory_fd[d], &info) == 0 ? (uint64_t)info.st_blocks * 512 : 0;
    return sum;
}

uint32_t committed_parts(int32_t device, uint64_t chunk)
{
    const struct vgpu_control *control = context.control;
    return control->chunk[device][chunk] ? WHOLE_CHUNK : control->parts[device][chunk];
}

/* The node maintains the limit; exceeding it is an error of the kernel here. */
static bool commit_locked(int32_t device, uint64_t chunk, uint32_t parts)
{
    struct vgpu_control *control = context.control;
    const uint32_t missing = parts & ~committed_parts(device, chunk);
    const uint64_t bytes = (unsigned)__builtin_popcount(missing) * VGPU_PART_BYTES;
    if (!missing)
        return true;
    if (held_bytes() + bytes > context.limits.memory_bytes ||
        !poison_parts(context.memory_fd[device], chunk * VGPU_CHUNK_BYTES, missing))
        return false;
    control->parts[device][chunk] |= missing;
    if (control->parts[device][chunk] == WHOLE_CHUNK)
        control->chunk[device][chunk] = 1;
    return true;
}

void memory_share(uint32_t *lock, uint32_t self)
{
    commit_lock = lock;
    commit_self = self;
}

static void lock_commits(void)
{
    uint32_t nobody = 0;
    while (commit_lock && !__atomic_compare_exchange_n(commit_lock, &nobody, commit_self, false,
                                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        nobody = 0;
        sched_yield();
    }
}

static void unlock_commits(void)
{
    if (commit_lock)
        __atomic_store_n(commit_lock, 0, __ATOMIC_RELEASE);
}

bool commit_has_room(uint64_t bytes)
{
    const uint64_t half = context.limits.memory_bytes / 2;
    return bytes < half && held_bytes() < half - bytes;
}

bool commit_parts(int32_t device, uint64_t chunk, uint32_t parts)
{
    if (!(parts & ~committed_parts(device, chunk)))
        return true;
    lock_commits();
    bool done = commit_locked(device, chunk, parts);
    unlock_commits();
    return done;
}
