/* SPDX-License-Identifier: MIT
 * move.c: see move.h.
 *
 * Parts that were never used get their new contents directly, surrounded by poison. Poisoning them
 * first and then writing page by page would take twice as long.
 *
 * A copy may have 2^29 rows of one byte. Rows that are contiguous on both sides are looked up once,
 * and the time limit and the program's end are checked periodically.
 */
#include "move.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "device_memory.h"
#include "kernel_timeout.h"
#include "memory_state.h"
#include "owner.h"
#include "vmm.h"
#include "quiescence.h"

/* A copy of this size replaces the contents of the caches anyway. */
#define PAST_CACHES (4u << 20)
/* Bytes between two checks of the time. */
#define LOOK_WORK (64u << 20)
/* Cost of a row in addition to its bytes, in bytes. */
#define ROW_WORK 64

static uint64_t smaller_size(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t up_to_chunk(uint64_t address)
{
    return VGPU_CHUNK_BYTES - address % VGPU_CHUNK_BYTES;
}

/* The offset of a row of a copy or fill. */
static uint64_t row_offset(uint64_t row, uint64_t pitch, uint64_t plane_rows, uint64_t plane)
{
    if (plane_rows == 0)
        return row * pitch;
    return row / plane_rows * plane + row % plane_rows * pitch;
}

/* ---- time limit ---- */

/* The start, the last check of the time, and the work done since. */
struct effort {
    double began, looked;
    uint64_t work;
};

/* Adds `rows` rows of `bytes`. True if the time limit is exceeded, or the program has ended. */
static bool is_too_long(struct effort *e, const struct owner *owner, uint64_t rows, uint64_t bytes)
{
    e->work += rows * (bytes + ROW_WORK);
    if (e->work < LOOK_WORK)
        return false;
    e->work = 0;
    if (e->began == 0)
        e->began = wall_seconds();
    return wall_seconds() - e->began > vgpu_kernel_seconds() ||
           (owner->is_gone && owner->is_gone(owner));
}

/* ---- contiguous rows ---- */

/* The number of rows from `at` on, `left` at most, that lie in one chunk of one mapping; 0: not
 * even one. */
static uint64_t rows_in_piece(uint64_t at, uint64_t bytes, uint64_t pitch, uint64_t left)
{
    uint64_t room = smaller_size(vmm_piece(at), up_to_chunk(at));
    if (room < bytes)
        return 0;
    return pitch ? smaller_size(left, (room - bytes) / pitch + 1) : left;
}

/* The number of rows left in the plane of `row`. */
static uint64_t rows_left(uint64_t row, uint64_t rows, uint64_t plane_rows)
{
    uint64_t all = rows - row;
    return plane_rows ? smaller_size(all, plane_rows - row % plane_rows) : all;
}

/* ---- copies ---- */

static bool is_of_device(uint64_t address)
{
    return address >= VGPU_ARENA_VA && address < VGPU_ARENA_END;
}

static const uint8_t *source_bytes(struct owner *owner, uint64_t from, uint64_t bytes)
{
    return is_of_device(from) ? memory_source(from, bytes) : owner_view(owner, from, bytes);
}

#ifdef __SSE2__
enum { LINE = 64, RUN = 4 * LINE, PAGE = 4096, PAGES = 8 };

static void stream_line(uint8_t *to, const uint8_t *from)
{
    for (int i = 0; i < LINE; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
}

/* Copies several pages in parallel, some lines of each in turn, so that several rows of DRAM are
 * open. */
static void stream_pages(uint8_t *to, const uint8_t *from)
{
    for (int line = 0; line < PAGE; line += RUN)
        for (int page = line; page < PAGES * PAGE; page += PAGE)
            for (int at = page; at < page + RUN; at += LINE)
                stream_line(to + at, from + at);
}

/* Like memcpy with non-temporal stores, which do not read lines before overwriting them: up to 1.5
 * times as fast for large copies. The C library does the same from a size on that it derives from
 * the caches, which virtual machines often report wrongly. */
static void copy_past_caches(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    uint64_t at = smaller_size(bytes, -(uint64_t)to % LINE);
    memcpy(to, from, at);
    for (; at + PAGES * PAGE <= bytes; at += PAGES * PAGE)
        stream_pages(to + at, from + at);
    for (; at + LINE <= bytes; at += LINE)
        stream_line(to + at, from + at);
    _mm_sfence();
    memcpy(to + at, from + at, bytes - at);
}
#else
static void copy_past_caches(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    memcpy(to, from, bytes);
}
#endif

/* `large`: part of a large copy whose sides do not overlap. */
static bool copy_piece(struct owner *owner, uint64_t to, uint64_t from, uint64_t bytes, bool large)
{
    const uint8_t *src = source_bytes(owner, from, bytes);
    bool done = false;
    if (bytes == 0 || !src || !memory_wrote(bytes))
        return false;
    uint8_t *dst = is_of_device(to) ? memory_target(to, src, bytes, &done) : NULL;
    if (!is_of_device(to)) {
        done = is_of_device(from) && owner_write(owner, to, src, bytes);
        dst = done ? NULL : owner_view(owner, to, bytes);
    }
    if (dst && large)
        copy_past_caches(dst, src, bytes);
    else if (dst)
        memmove(dst, src, bytes);
    return done || dst;
}

/* Copies from the end, because the source begins below the destination and overlaps it. */
static bool copy_row_back(struct owner *owner, uint64_t to, uint64_t from, uint64_t bytes)
{
    while (bytes > 0) {
        uint64_t n = smaller_size(bytes, smaller_size((to + bytes - 1) % VGPU_CHUNK_BYTES + 1,
                                                      (from + bytes - 1) % VGPU_CHUNK_BYTES + 1));
        bytes -= n;
        if (smaller_size(vmm_piece(to + bytes), vmm_piece(from + bytes)) < n ||
            !copy_piece(owner, to + bytes, from + bytes, n, false))
            return false;
    }
    return true;
}

/* Copies piece by piece: adjacent addresses need not be adjacent in memory, and at most a chunk is
 * written between two checks of the memory limit. */
static bool copy_row(struct owner *owner, uint64_t to, uint64_t from, uint64_t bytes)
{
    bool apart = to + bytes <= from || from + bytes <= to;
    bool large = apart && bytes >= PAST_CACHES;
    if (!apart && to > from)
        return copy_row_back(owner, to, from, bytes);
    while (bytes > 0) {
        uint64_t n = smaller_size(bytes, smaller_size(vmm_piece(to), vmm_piece(from)));
        n = smaller_size(n, up_to_chunk(to));
        if (!copy_piece(owner, to, from, n, large))
            return false;
        to += n, from += n, bytes -= n;
    }
    return true;
}

/* Copies rows from `row` on that are contiguous on both sides; returns their number. 0: there are
 * none, or memory is missing. */
static uint64_t copy_rows(struct owner *owner, const struct vgpu_copy *c, uint64_t row, uint64_t to,
                          uint64_t from)
{
    uint64_t left = smaller_size(rows_left(row, c->rows, c->plane_rows), LOOK_WORK / ROW_WORK);
    uint64_t n = rows_in_piece(to, c->bytes, c->pitch_dst, left);
    n = n > 1 ? rows_in_piece(from, c->bytes, c->pitch_src, n) : 0;
    const uint8_t *src =
        n > 1 ? source_bytes(owner, from, (n - 1) * c->pitch_src + c->bytes) : NULL;
    uint8_t *dst = src ? owner_view(owner, to, (n - 1) * c->pitch_dst + c->bytes) : NULL;
    if (!dst || !memory_wrote(n * c->bytes))
        return 0;
    for (uint64_t i = 0; i < n; i++)
        memmove(dst + i * c->pitch_dst, src + i * c->pitch_src, c->bytes);
    return n;
}

enum moved move_copy(struct owner *owner, const struct vgpu_copy *c)
{
    struct effort effort = {0};
    if (c->bytes == 0)
        return MOVED;
    for (uint64_t row = 0, n; row < c->rows; row += n) {
        uint64_t to = c->dst + row_offset(row, c->pitch_dst, c->plane_rows, c->plane_dst);
        uint64_t from = c->src + row_offset(row, c->pitch_src, c->plane_rows, c->plane_src);
        n = copy_rows(owner, c, row, to, from);
        if (n == 0 && !copy_row(owner, to, from, c->bytes))
            return MOVED_NO_MEMORY;
        n = n ? n : 1;
        if (row + n < c->rows && is_too_long(&effort, owner, n, c->bytes))
            return MOVED_TOO_LONG;
    }
    return MOVED;
}

/* ---- fills ---- */

static void fill_bytes(uint8_t *at, const struct vgpu_memset *m, uint64_t bytes)
{
    if (m->width == 1) {
        memset(at, (int)m->value, bytes);
        return;
    }
    for (uint64_t i = 0; i + m->width <= bytes; i += m->width)
        memcpy(at + i, &m->value, m->width); /* little-endian, as the targets are */
}

/* A chunk whose first `bytes` are filled with the value; not worthwhile for small fills. */
static const uint8_t *filled_chunk(const struct vgpu_memset *m, uint64_t bytes)
{
    const struct vgpu_memset *made = &memory_current->fill.pattern;
    if (made->width != m->width || made->value != m->value || memory_current->fill.bytes < bytes) {
        fill_bytes(memory_current->fill.chunk, m, bytes);
        memory_current->fill.bytes = bytes;
    }
    memory_current->fill.pattern = *m;
    return memory_current->fill.chunk;
}

static bool fill_row(struct owner *owner, uint64_t at, const struct vgpu_memset *m)
{
    for (uint64_t left = m->bytes, n; left > 0; at += n, left -= n) {
        n = smaller_size(left, smaller_size(vmm_piece(at), up_to_chunk(at)));
        if (n >= VGPU_PART_BYTES && memory_untouched(at, n) &&
            memory_fill_fresh(at, filled_chunk(m, n), n))
            continue;
        uint8_t *to = n && memory_wrote(n) ? owner_view(owner, at, n) : NULL;
        if (!to)
            return false;
        fill_bytes(to, m, n);
    }
    return true;
}

/* Fills rows from `row` on that are contiguous; returns their number. 0: there are none, or memory
 * is missing. */
static uint64_t fill_rows(struct owner *owner, const struct vgpu_memset *m, uint64_t row,
                          uint64_t at)
{
    uint64_t left = smaller_size(rows_left(row, m->rows, m->plane_rows), LOOK_WORK / ROW_WORK);
    uint64_t n = rows_in_piece(at, m->bytes, m->pitch, left);
    uint8_t *to = n > 1 ? owner_view(owner, at, (n - 1) * m->pitch + m->bytes) : NULL;
    for (uint64_t i = 0; to && i < n; i++)
        fill_bytes(to + i * m->pitch, m, m->bytes);
    return to && memory_wrote(n * m->bytes) ? n : 0;
}

enum moved move_fill(struct owner *owner, const struct vgpu_memset *m)
{
    struct effort effort = {0};
    for (uint64_t row = 0, n; row < m->rows && m->bytes; row += n) {
        uint64_t at = m->dst + row_offset(row, m->pitch, m->plane_rows, m->plane);
        n = fill_rows(owner, m, row, at);
        if (n == 0 && !fill_row(owner, at, m))
            return MOVED_NO_MEMORY;
        n = n ? n : 1;
        if (row + n < m->rows && is_too_long(&effort, owner, n, m->bytes))
            return MOVED_TOO_LONG;
    }
    return MOVED;
}
