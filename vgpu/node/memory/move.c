/* SPDX-License-Identifier: MIT
 * move.c: see move.h.
 *
 * A chunk that was never touched gets its new contents at once, with poison around them: to
 * poison all of it first, and then to meet its pages one after the other, costs twice that.
 *
 * A copy may have 2^29 rows of one byte. Rows that lie in one piece on both sides are looked up
 * once, and from time to time it is asked whether anybody still wants the rest.
 */
#include "move.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "device_memory.h"
#include "kernel_timeout.h"
#include "owner.h"
#include "vmm.h"
#include "quiescence.h"

#define WORTH_A_CHUNK (VGPU_CHUNK_BYTES / 8)
#define PAST_CACHES (4u << 20) /* a copy of so much leaves nothing of use in them */
#define LOOK_WORK (64u << 20)  /* bytes, between two looks at the time */
#define ROW_WORK 64            /* what a row costs beside its bytes, in bytes */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t up_to_chunk(uint64_t address)
{
    return VGPU_CHUNK_BYTES - address % VGPU_CHUNK_BYTES;
}

/* Where a row of a copy or fill begins. */
static uint64_t row_offset(uint64_t row, uint64_t pitch, uint64_t plane_rows, uint64_t plane)
{
    if (plane_rows == 0)
        return row * pitch;
    return row / plane_rows * plane + row % plane_rows * pitch;
}

/* ---- how long ---- */

/* Since when it goes on, and what was done since the last look at the time. */
struct effort {
    double began, looked;
    uint64_t work;
};

/* After `rows` rows of `bytes`: has it taken too long, or has its program gone? */
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

/* ---- rows in one piece ---- */

/* How many rows from `at` on lie in one chunk of one mapping, `left` at most; 0: not even one. */
static uint64_t rows_in_piece(uint64_t at, uint64_t bytes, uint64_t pitch, uint64_t left)
{
    uint64_t room = least(vmm_piece(at), up_to_chunk(at));
    if (room < bytes)
        return 0;
    return pitch ? least(left, (room - bytes) / pitch + 1) : left;
}

/* Rows of the same plane that are left from `row` on. */
static uint64_t rows_left(uint64_t row, uint64_t rows, uint64_t plane_rows)
{
    uint64_t all = rows - row;
    return plane_rows ? least(all, plane_rows - row % plane_rows) : all;
}

/* ---- copies ---- */

/* Both sides are poison that was never touched: the copy would change nothing. */
static bool changes_nothing(const struct vgpu_copy *c)
{
    return c->rows == 1 && c->bytes <= vmm_piece(c->src) && c->bytes <= vmm_piece(c->dst) &&
           memory_device_of(c->src) >= 0 && memory_device_of(c->dst) >= 0 &&
           memory_untouched(c->src, c->bytes) && memory_untouched(c->dst, c->bytes);
}

/* What is to be copied. Memory that was never touched stays so: reading it finds poison. */
static const uint8_t *source(struct owner *owner, uint64_t from, uint64_t bytes)
{
    if (bytes > 0 && bytes <= VGPU_CHUNK_BYTES && memory_untouched(from, bytes))
        return memory_poison();
    return owner_view(owner, from, bytes);
}

#ifdef __SSE2__
enum { LINE = 64, RUN = 4 * LINE, PAGE = 4096, PAGES = 8 };

static void stream_line(uint8_t *to, const uint8_t *from)
{
    for (int i = 0; i < LINE; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
}

/* Several pages side by side, some lines of each in turn: memory has more than one row open then.
 */
static void stream_pages(uint8_t *to, const uint8_t *from)
{
    for (int line = 0; line < PAGE; line += RUN)
        for (int page = line; page < PAGES * PAGE; page += PAGE)
            for (int at = page; at < page + RUN; at += LINE)
                stream_line(to + at, from + at);
}

/* Like memcpy, but what is written goes to memory at once: nothing is read before to be overwritten
 * as a whole. Half as fast again for large copies; the C library begins with that at a size that it
 * takes from the caches, which virtual machines often tell wrong. */
static void copy_past_caches(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    uint64_t at = least(bytes, -(uint64_t)to % LINE);
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

/* `large`: a piece of a copy that does not overlap, and is. */
static bool copy_piece(struct owner *owner, uint64_t to, uint64_t from, uint64_t bytes, bool large)
{
    const uint8_t *src = source(owner, from, bytes);
    if (bytes == 0 || !src || !memory_wrote(bytes))
        return false;
    if (memory_fill_fresh(to, src, bytes) ||
        (memory_device_of(from) >= 0 && owner_write(owner, to, src, bytes)))
        return true;
    uint8_t *dst = owner_view(owner, to, bytes);
    if (dst && large)
        copy_past_caches(dst, src, bytes);
    else if (dst)
        memmove(dst, src, bytes);
    return dst;
}

/* From the end: what is to be read lies before what is written, and overlaps it. */
static bool copy_row_back(struct owner *owner, uint64_t to, uint64_t from, uint64_t bytes)
{
    while (bytes > 0) {
        uint64_t n = least(bytes, least((to + bytes - 1) % VGPU_CHUNK_BYTES + 1,
                                        (from + bytes - 1) % VGPU_CHUNK_BYTES + 1));
        bytes -= n;
        if (least(vmm_piece(to + bytes), vmm_piece(from + bytes)) < n ||
            !copy_piece(owner, to + bytes, from + bytes, n, false))
            return false;
    }
    return true;
}

/* Piece by piece: neighbours by address need not be neighbours in memory, and no more than a chunk
 * is written between two looks at the memory limit. */
static bool copy_row(struct owner *owner, uint64_t to, uint64_t from, uint64_t bytes)
{
    bool apart = to + bytes <= from || from + bytes <= to;
    bool large = apart && bytes >= PAST_CACHES;
    if (!apart && to > from)
        return copy_row_back(owner, to, from, bytes);
    while (bytes > 0) {
        uint64_t n = least(bytes, least(vmm_piece(to), vmm_piece(from)));
        n = least(n, up_to_chunk(to));
        if (!copy_piece(owner, to, from, n, large))
            return false;
        to += n, from += n, bytes -= n;
    }
    return true;
}

/* As many rows as lie in one piece on both sides, from `row` on; 0: none, or none of it is there.
 */
static uint64_t copy_rows(struct owner *owner, const struct vgpu_copy *c, uint64_t row, uint64_t to,
                          uint64_t from)
{
    uint64_t left = least(rows_left(row, c->rows, c->plane_rows), LOOK_WORK / ROW_WORK);
    uint64_t n = rows_in_piece(to, c->bytes, c->pitch_dst, left);
    n = n > 1 ? rows_in_piece(from, c->bytes, c->pitch_src, n) : 0;
    const uint8_t *src = n > 1 ? source(owner, from, (n - 1) * c->pitch_src + c->bytes) : NULL;
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
    if (c->bytes == 0 || changes_nothing(c))
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

static void fill(uint8_t *at, const struct vgpu_memset *m, uint64_t bytes)
{
    if (m->width == 1) {
        memset(at, (int)m->value, bytes);
        return;
    }
    for (uint64_t i = 0; i + m->width <= bytes; i += m->width)
        memcpy(at + i, &m->value, m->width); /* little endian, as both targets are */
}

/* A chunk full of the value: small fills are not worth it. */
static const uint8_t *full_chunk(const struct vgpu_memset *m)
{
    static uint8_t chunk[VGPU_CHUNK_BYTES];
    static struct vgpu_memset made;
    if (made.width != m->width || made.value != m->value)
        fill(chunk, m, sizeof chunk);
    made = *m;
    return chunk;
}

static bool fill_row(struct owner *owner, uint64_t at, const struct vgpu_memset *m)
{
    for (uint64_t left = m->bytes, n; left > 0; at += n, left -= n) {
        n = least(left, least(vmm_piece(at), up_to_chunk(at)));
        if (n >= WORTH_A_CHUNK && memory_untouched(at, n) &&
            memory_fill_fresh(at, full_chunk(m), n))
            continue;
        uint8_t *to = n && memory_wrote(n) ? owner_view(owner, at, n) : NULL;
        if (!to)
            return false;
        fill(to, m, n);
    }
    return true;
}

/* As many rows as lie in one piece, from `row` on; 0: none, or none of it is there. */
static uint64_t fill_rows(struct owner *owner, const struct vgpu_memset *m, uint64_t row,
                          uint64_t at)
{
    uint64_t left = least(rows_left(row, m->rows, m->plane_rows), LOOK_WORK / ROW_WORK);
    uint64_t n = rows_in_piece(at, m->bytes, m->pitch, left);
    uint8_t *to = n > 1 ? owner_view(owner, at, (n - 1) * m->pitch + m->bytes) : NULL;
    for (uint64_t i = 0; to && i < n; i++)
        fill(to + i * m->pitch, m, m->bytes);
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
