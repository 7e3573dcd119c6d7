/* SPDX-License-Identifier: MIT
 * commit.c: commits device memory: at its first use a part of a chunk gets pages of host memory,
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

const uint8_t *memory_poison(uint64_t bytes)
{
    uint8_t *chunk = memory_current->poison;
    if (bytes <= memory_current->poisoned)
        return chunk;
    if (bytes > VGPU_PART_BYTES) /* one page fault instead of 512 */
        (void)madvise(chunk, VGPU_CHUNK_BYTES, MADV_HUGEPAGE);
    memory_current->poisoned = bytes > VGPU_PART_BYTES ? VGPU_CHUNK_BYTES : VGPU_PART_BYTES;
    memset(chunk, VGPU_POISON, memory_current->poisoned);
    return chunk;
}

/* Appends `bytes` of poison to a list of what is written. */
static int add_poison(struct iovec *list, int count, uint64_t bytes)
{
    for (uint64_t n; bytes > 0; bytes -= n) {
        n = bytes < VGPU_PART_BYTES ? bytes : VGPU_PART_BYTES;
        list[count++] = (struct iovec){(uint8_t *)memory_poison(n), n};
    }
    return count;
}

/* Gives adjacent parts from the offset `from` to `to` their contents: `n` bytes from the offset
 * `at` on, poison around them. Uses a write: one system call instead of a page fault for each page.
 */
static bool write_parts(int device, uint64_t from, uint64_t to, uint64_t at, const uint8_t *bytes,
                        uint64_t n)
{
    struct iovec list[VGPU_PARTS + 3];
    int count = add_poison(list, 0, at - from);
    if (n)
        list[count++] = (struct iovec){(uint8_t *)bytes, n};
    count = add_poison(list, count, to - at - n);
    return pwritev(memory_of(device)->fd, list, count, (off_t)from) == (ssize_t)(to - from);
}

/* ---- parts ---- */

/* The bits of the parts that [offset, +bytes) touches; it lies in one chunk. */
static uint32_t parts_of(uint64_t offset, uint64_t bytes)
{
    uint64_t at = offset % VGPU_CHUNK_BYTES;
    uint64_t first = at / VGPU_PART_BYTES, last = (at + bytes - 1) / VGPU_PART_BYTES;
    return ~0u << first & ~0u >> (VGPU_PARTS - 1 - last);
}

static uint32_t committed_parts(int device, uint64_t chunk)
{
    const struct vgpu_control *control = memory_control();
    return control->chunk[device][chunk] ? ~0u : control->parts[device][chunk];
}

static void note_parts(int device, uint64_t chunk, uint32_t parts)
{
    struct vgpu_control *control = memory_control();
    control->parts[device][chunk] |= parts;
    if (control->parts[device][chunk] == ~0u)
        control->chunk[device][chunk] = 1;
}

void memory_uncommit(int device, uint64_t chunk)
{
    struct vgpu_control *control = memory_control();
    if (control->chunk[device][chunk])
        control->chunk[device][chunk] = 0;
    if (control->parts[device][chunk])
        control->parts[device][chunk] = 0;
}

uint64_t memory_next_part(uint64_t offset)
{
    return (offset / VGPU_PART_BYTES + 1) * VGPU_PART_BYTES;
}

bool memory_is_committed(int device, uint64_t offset)
{
    return committed_parts(device, offset / VGPU_CHUNK_BYTES) & parts_of(offset, 1);
}

bool memory_was_used(int device, uint64_t offset, uint64_t bytes)
{
    const uint64_t end = offset + bytes;
    for (uint64_t n; offset < end; offset += n) {
        n = VGPU_CHUNK_BYTES - offset % VGPU_CHUNK_BYTES;
        n = n < end - offset ? n : end - offset;
        if (committed_parts(device, offset / VGPU_CHUNK_BYTES) & parts_of(offset, n))
            return true;
    }
    return false;
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
             "device code has taken %llu MiB of this computer's memory without asking the virtual "
             "node, whose limit is %llu MiB (VGPU_MEMORY_LIMIT)",
             (unsigned long long)((control > CONTROL_BYTES ? control : taken) >> 20),
             (unsigned long long)(memory_current->limit_bytes >> 20));
    return true;
}

bool memory_commit_as(int device, uint64_t offset, const uint8_t *bytes, uint64_t n)
{
    const uint32_t parts = parts_of(offset, n);
    const uint64_t chunk = offset / VGPU_CHUNK_BYTES;
    const uint64_t from = offset / VGPU_PART_BYTES * VGPU_PART_BYTES;
    const uint64_t to = memory_next_part(offset + n - 1);
    if (committed_parts(device, chunk) & parts || !memory_has_room(to - from) ||
        !write_parts(device, from, to, offset, bytes, n))
        return false;
    note_parts(device, chunk, parts);
    return true;
}

/* Commits those of a chunk's `parts` that are not committed, adjacent ones by one write. */
static bool commit_parts(int device, uint64_t chunk, uint32_t parts)
{
    const uint32_t missing = parts & ~committed_parts(device, chunk);
    for (unsigned first = 0, count; missing && first < VGPU_PARTS; first += count + 1) {
        uint64_t from = chunk * VGPU_CHUNK_BYTES + first * VGPU_PART_BYTES;
        for (count = 0; first + count < VGPU_PARTS && missing >> (first + count) & 1;)
            count++;
        uint64_t bytes = count * VGPU_PART_BYTES;
        if (count &&
            (!memory_has_room(bytes) || !write_parts(device, from, from + bytes, from, NULL, 0)))
            return false;
    }
    note_parts(device, chunk, missing);
    return true;
}

bool memory_commit(int device, uint64_t offset, uint64_t bytes)
{
    const uint64_t end = offset + bytes;
    for (uint64_t n; offset < end; offset += n) {
        n = VGPU_CHUNK_BYTES - offset % VGPU_CHUNK_BYTES;
        n = n < end - offset ? n : end - offset;
        if (!commit_parts(device, offset / VGPU_CHUNK_BYTES, parts_of(offset, n)))
            return false;
    }
    return true;
}

bool memory_copy_chunks(int device, uint64_t to, uint64_t from, uint64_t bytes)
{
    const struct device_memory *m = memory_of(device);
    for (uint64_t at = 0; at < bytes; at += VGPU_CHUNK_BYTES) {
        if (!memory_was_used(device, from + at, VGPU_CHUNK_BYTES))
            continue;
        if (!memory_commit(device, from + at, VGPU_CHUNK_BYTES) ||
            !memory_commit(device, to + at, VGPU_CHUNK_BYTES))
            return false;
        memcpy(m->base + to + at, m->base + from + at, VGPU_CHUNK_BYTES);
        if (!memory_wrote(VGPU_CHUNK_BYTES))
            return false;
    }
    return true;
}
