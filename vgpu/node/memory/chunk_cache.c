/* SPDX-License-Identifier: MIT
 * chunk_cache.c: see chunk_cache.h. Whether a chunk is in use again is decided by what is
 * committed, not by its being listed here.
 */
#include "chunk_cache.h"

#include <fcntl.h>
#include <string.h>

#include "device_memory.h"
#include "memory_state.h"

/* Chunks; blocks larger than this are not cached, since they would displace all others. */
enum { LARGE = 8 };

static void return_pages(int device, uint64_t offset, uint64_t bytes)
{
    fallocate(memory_of(device)->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
              (off_t)bytes);
}

static void drop_cached(int i)
{
    struct spare_chunk gone = memory_current->spare.item[i];
    memmove(memory_current->spare.item + i, memory_current->spare.item + i + 1,
            (size_t)(--memory_current->spare.count - i) * sizeof *memory_current->spare.item);
    if (!memory_was_used(gone.device, gone.chunk * VGPU_CHUNK_BYTES, VGPU_CHUNK_BYTES))
        return_pages(gone.device, gone.chunk * VGPU_CHUNK_BYTES, VGPU_CHUNK_BYTES);
}

static void forget_chunk(int device, uint64_t chunk)
{
    for (int i = 0; i < memory_current->spare.count; i++)
        if (memory_current->spare.item[i].device == device &&
            memory_current->spare.item[i].chunk == chunk) {
            memmove(memory_current->spare.item + i, memory_current->spare.item + i + 1,
                    (size_t)(--memory_current->spare.count - i) *
                        sizeof *memory_current->spare.item);
            return;
        }
}

void chunk_cache_add(int device, uint64_t offset, uint64_t bytes)
{
    uint64_t first = offset / VGPU_CHUNK_BYTES, count = bytes / VGPU_CHUNK_BYTES;
    if (count > LARGE) {
        return_pages(device, offset, bytes);
        return;
    }
    for (uint64_t c = first; c < first + count; c++) {
        forget_chunk(device, c);
        if (memory_current->spare.count == SPARE_CHUNKS)
            drop_cached(0);
        memory_current->spare.item[memory_current->spare.count++] = (struct spare_chunk){device, c};
    }
}

void chunk_cache_empty(void)
{
    while (memory_current->spare.count)
        drop_cached(memory_current->spare.count - 1);
}

void chunk_cache_make_room(void)
{
    if (memory_current->spare.count)
        memory_has_room((uint64_t)SPARE_CHUNKS * VGPU_CHUNK_BYTES);
}
