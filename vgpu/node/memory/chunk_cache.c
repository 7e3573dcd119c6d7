/* SPDX-License-Identifier: MIT
 * chunk_cache.c: see chunk_cache.h. A chunk that is in use again is left alone: what counts is that
 * it is committed (control->chunk), not whether we still remember it.
 */
#include "chunk_cache.h"

#include <fcntl.h>
#include <string.h>

#include "device_memory.h"

enum { SPARES = 16, LARGE = 8 /* chunks of a block: more would only drive the others out */ };

static struct spare {
    int device;
    uint64_t chunk;
} spares[SPARES]; /* the oldest first */
static int spare_count;

static void give_back(int device, uint64_t offset, uint64_t bytes)
{
    fallocate(memory_of(device)->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
              (off_t)bytes);
}

static void drop(int i)
{
    struct spare gone = spares[i];
    memmove(spares + i, spares + i + 1, (size_t)(--spare_count - i) * sizeof *spares);
    if (!memory_control()->chunk[gone.device][gone.chunk])
        give_back(gone.device, gone.chunk * VGPU_CHUNK_BYTES, VGPU_CHUNK_BYTES);
}

static void forget(int device, uint64_t chunk)
{
    for (int i = 0; i < spare_count; i++)
        if (spares[i].device == device && spares[i].chunk == chunk) {
            memmove(spares + i, spares + i + 1, (size_t)(--spare_count - i) * sizeof *spares);
            return;
        }
}

void chunk_cache_add(int device, uint64_t offset, uint64_t bytes)
{
    uint64_t first = offset / VGPU_CHUNK_BYTES, count = bytes / VGPU_CHUNK_BYTES;
    if (count > LARGE) {
        give_back(device, offset, bytes);
        return;
    }
    for (uint64_t c = first; c < first + count; c++) {
        forget(device, c);
        if (spare_count == SPARES)
            drop(0);
        spares[spare_count++] = (struct spare){device, c};
    }
}

void chunk_cache_empty(void)
{
    while (spare_count)
        drop(spare_count - 1);
}

void chunk_cache_make_room(void)
{
    if (spare_count)
        memory_has_room((uint64_t)SPARES * VGPU_CHUNK_BYTES);
}
