/* SPDX-License-Identifier: MIT
 * race_shadow.c: see race_shadow.h. Keeps a list of the mapped pieces, to unmap them.
 */
#include "race_shadow.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PIECE_BYTES = 256 << 10, KEPT_PIECES = 256 };

static uint64_t *pieces; /* addresses of mapped pieces */
static uint32_t piece_count, piece_room;

/* The shadow of a context may take a quarter of the GPUs' memory limit. */
static bool may_grow(void)
{
    uint64_t limit = context.limits.memory_bytes / 4;
    if ((uint64_t)(piece_count + 1) * PIECE_BYTES > limit)
        return false;
    if (piece_count < piece_room)
        return true;
    uint32_t room = piece_room ? 2 * piece_room : 256;
    uint64_t *more = realloc(pieces, room * sizeof *more);
    if (!more)
        return false;
    pieces = more;
    piece_room = room;
    return true;
}

/* Populates all pages: two faults for each page (cells are read first) cost more than the unused
 * part of a piece. */
static bool map_shadow(uint64_t at)
{
    return mmap((void *)at, PIECE_BYTES, PROT_READ | PROT_WRITE, /* NOLINT */
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1,
                0) != MAP_FAILED;
}

static void drop_pieces(void)
{
    while (piece_count > 0)
        munmap((void *)pieces[--piece_count], PIECE_BYTES); /* NOLINT */
}

bool shadow_touch(uint64_t address)
{
    uint64_t at = address & ~(uint64_t)(PIECE_BYTES - 1);
    if (address < SHADOW_VA || address >= SHADOW_END)
        return false;
    if (!may_grow()) {
        drop_pieces(); /* over the limit: drop all notes so far */
        if (!may_grow())
            return false;
    }
    if (!map_shadow(at))
        return false;
    pieces[piece_count++] = at;
    return true;
}

void shadow_trim(void)
{
    if (piece_count > KEPT_PIECES)
        drop_pieces();
}
