/* SPDX-License-Identifier: MIT
 * move.c: see move.h.
 *
 * A chunk that nobody has touched yet gets its new contents at once, with poison around them: to
 * poison all of it first, and then to meet its pages one after the other, costs twice that.
 */
#include "move.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "memory.h"
#include "process.h"
#include "vmm.h"

#define WORTH_A_CHUNK (VGPU_CHUNK_BYTES / 8)
#define PAST_CACHES (4u << 20) /* a copy of so much leaves nothing of use in them */

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

/* ---- copies ---- */

/* Both sides are poison that was never touched: the copy would change nothing. */
static bool changes_nothing(const struct vgpu_copy *c)
{
    return c->rows == 1 && c->bytes <= vmm_piece(c->src) && c->bytes <= vmm_piece(c->dst) &&
           process_device_of(c->src) >= 0 && process_device_of(c->dst) >= 0 &&
           memory_untouched(c->src, c->bytes) && memory_untouched(c->dst, c->bytes);
}

/* What is to be copied. Memory that was never touched stays so: reading it finds poison. */
static const uint8_t *source(struct process *process, uint64_t from, uint64_t bytes)
{
    if (bytes > 0 && bytes <= VGPU_CHUNK_BYTES && memory_untouched(from, bytes))
        return memory_poison();
    return process_view(process, from, bytes);
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
static bool copy_piece(struct process *process, uint64_t to, uint64_t from, uint64_t bytes,
                       bool large)
{
    const uint8_t *src = source(process, from, bytes);
    if (bytes == 0 || !src)
        return false;
    if (memory_fill_fresh(to, src, bytes) ||
        (process_device_of(from) >= 0 && process_write(process, to, src, bytes)))
        return true;
    uint8_t *dst = process_view(process, to, bytes);
    if (dst && large)
        copy_past_caches(dst, src, bytes);
    else if (dst)
        memmove(dst, src, bytes);
    return dst;
}

/* Piece by piece: neighbours by address need not be neighbours in memory, and chunks are pieces
 * where the two sides do not overlap. */
static bool copy_row(struct process *process, uint64_t to, uint64_t from, uint64_t bytes)
{
    bool apart = to + bytes <= from || from + bytes <= to;
    bool large = apart && bytes >= PAST_CACHES;
    while (bytes > 0) {
        uint64_t n = least(bytes, least(vmm_piece(to), vmm_piece(from)));
        n = apart ? least(n, up_to_chunk(to)) : n;
        if (!copy_piece(process, to, from, n, large))
            return false;
        to += n, from += n, bytes -= n;
    }
    return true;
}

bool move_copy(struct process *process, const struct vgpu_copy *c)
{
    if (c->bytes == 0 || changes_nothing(c))
        return true;
    for (uint64_t row = 0; row < c->rows; row++) {
        uint64_t to = row_offset(row, c->pitch_dst, c->plane_rows, c->plane_dst);
        uint64_t from = row_offset(row, c->pitch_src, c->plane_rows, c->plane_src);
        if (!copy_row(process, c->dst + to, c->src + from, c->bytes))
            return false;
    }
    return true;
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

static bool fill_row(struct process *process, uint64_t at, const struct vgpu_memset *m)
{
    for (uint64_t left = m->bytes, n; left > 0; at += n, left -= n) {
        n = least(left, least(vmm_piece(at), up_to_chunk(at)));
        if (n >= WORTH_A_CHUNK && memory_untouched(at, n) &&
            memory_fill_fresh(at, full_chunk(m), n))
            continue;
        uint8_t *to = n ? process_view(process, at, n) : NULL;
        if (!to)
            return false;
        fill(to, m, n);
    }
    return true;
}

bool move_fill(struct process *process, const struct vgpu_memset *m)
{
    for (uint64_t row = 0; row < m->rows && m->bytes; row++) {
        uint64_t offset = row_offset(row, m->pitch, m->plane_rows, m->plane);
        if (!fill_row(process, m->dst + offset, m))
            return false;
    }
    return true;
}
