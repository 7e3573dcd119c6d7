/* SPDX-License-Identifier: MIT
 * byte_shadow.c: see byte_shadow.h. In a marked cell `write` is the index of its four cells and
 * `read` the stamp.
 */
#include "byte_shadow.h"

#include <sys/mman.h>

enum { ROOM = 1 << 22, BYTES_A_WORD = 4 }; /* words: 256 MiB of addresses */
enum { KEPT = 1 << 19 };                   /* words whose pages stay: the next kernel has as many */

static struct cell (*all)[BYTES_A_WORD];
static uint64_t used_shadow, oldest;

static bool shadow_ready(void)
{
    if (!all) {
        void *at = mmap(NULL, (size_t)ROOM * sizeof *all, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        all = at == MAP_FAILED ? NULL : at;
    }
    return all && used_shadow < ROOM;
}

struct cell *byte_cells_make(struct cell *cell, uint64_t stamp)
{
    if (!shadow_ready())
        return NULL;
    struct cell *four = all[used_shadow];
    for (int i = 0; i < BYTES_A_WORD; i++)
        four[i] = *cell;
    *cell = (struct cell){BYTE_CELLS_MARK | used_shadow++, stamp};
    return four;
}

struct cell *byte_cells_of(const struct cell *cell)
{
    return cell->read > oldest ? all[cell->write & ~BYTE_CELLS_MARK] : NULL;
}

void byte_cells_forget(uint64_t stamp)
{
    if (used_shadow > KEPT)
        madvise(all + KEPT, (used_shadow - KEPT) * sizeof *all, MADV_DONTNEED);
    used_shadow = 0;
    oldest = stamp;
}
