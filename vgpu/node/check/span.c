/* SPDX-License-Identifier: MIT
 * span.c: see span.h.
 */
#include "span.h"

#define LONG_SEARCH 65536

uint64_t span_end(const struct vgpu_span *s)
{
    return s->address + (s->count - 1) * s->stride + s->bytes;
}

static bool is_contiguous_span(const struct vgpu_span *s)
{
    return s->count == 1 || s->stride <= s->bytes;
}

/* True if a piece of `s` intersects [low, end). */
static bool span_intersects(const struct vgpu_span *s, uint64_t low, uint64_t end)
{
    if (end <= s->address || low >= span_end(s))
        return false;
    if (is_contiguous_span(s) || low < s->address)
        return true;
    uint64_t into = (low - s->address) % s->stride;
    return into < s->bytes ||
           (end - low > s->stride - into && low + s->stride - into < span_end(s));
}

/* Spans with equal strides overlap if their pieces overlap within one period, except near the ends,
 * where one span may be over before the other begins. */
static bool equal_strides_overlap(const struct vgpu_span *a, const struct vgpu_span *b)
{
    if (a->address > b->address)
        return equal_strides_overlap(b, a);
    uint64_t into = (b->address - a->address) % a->stride;
    uint64_t first = b->address - into; /* the piece of a before b's first one */
    bool before = first < span_end(a) && into < a->bytes;
    bool behind = first + a->stride < span_end(a) && a->stride - into < b->bytes;
    /* Or b's later pieces and a's, which are at the same distance. */
    return before || behind;
}

static bool search_overlap(const struct vgpu_span *few, const struct vgpu_span *many,
                           uint64_t *work)
{
    uint64_t low = many->address, end = span_end(many), i = 0;
    if (low > few->address + few->bytes)
        i = (low - few->address - few->bytes) / few->stride;
    for (uint64_t steps = 0; i < few->count && steps<LONG_SEARCH && * work> 0; i++, steps++) {
        (*work)--;
        uint64_t at = few->address + i * few->stride;
        if (at >= end)
            return false;
        if (span_intersects(many, at, at + few->bytes))
            return true;
    }
    return false;
}

bool span_overlap(const struct vgpu_span *a, const struct vgpu_span *b, uint64_t *work)
{
    if (span_end(a) <= b->address || span_end(b) <= a->address)
        return false;
    if (is_contiguous_span(a))
        return span_intersects(b, a->address, span_end(a));
    if (is_contiguous_span(b))
        return span_intersects(a, b->address, span_end(b));
    if (a->stride == b->stride && a->bytes <= a->stride && b->bytes <= b->stride)
        return equal_strides_overlap(a, b);
    return a->count < b->count ? search_overlap(a, b, work) : search_overlap(b, a, work);
}
