/* SPDX-License-Identifier: MIT
 * span.c: sets of bytes at equal distances: whether two overlap, against counting bytes.
 */
#include "span.h"

#include <stdbool.h>
#include <string.h>

#include "unit.h"

enum { ROOM = 512, ROUNDS = 40000 };

static struct vgpu_span any_span(void)
{
    struct vgpu_span s = {.address = 1000 + unit_dice(64), .bytes = 1 + unit_dice(12)};
    s.stride = 1 + unit_dice(40);
    s.count = 1 + unit_dice(10);
    return s;
}

static void mark(bool *used, const struct vgpu_span *s)
{
    for (uint64_t i = 0; i < s->count; i++)
        for (uint64_t k = 0; k < s->bytes; k++)
            used[s->address - 1000 + i * s->stride + k] = true;
}

static bool counted(const struct vgpu_span *a, const struct vgpu_span *b)
{
    bool first[ROOM] = {0}, second[ROOM] = {0};
    mark(first, a);
    mark(second, b);
    for (int i = 0; i < ROOM; i++)
        if (first[i] && second[i])
            return true;
    return false;
}

static bool agree(const struct vgpu_span *a, const struct vgpu_span *b, bool right)
{
    uint64_t work = 1 << 24;
    return span_overlap(a, b, &work) == right && span_overlap(b, a, &work) == right;
}

UNIT(spans_overlap_as_their_bytes_do)
{
    unit_seed(20261121);
    for (int i = 0; i < ROUNDS; i++) {
        struct vgpu_span a = any_span(), b = any_span();
        if (i % 2)
            b.stride = a.stride; /* the case with a short cut */
        bool right = counted(&a, &b);
        EXPECT(agree(&a, &b, right),
               "%llu+%llu every %llu, %llu times and %llu+%llu every %llu, %llu times: they %s",
               (unsigned long long)a.address, (unsigned long long)a.bytes,
               (unsigned long long)a.stride, (unsigned long long)a.count,
               (unsigned long long)b.address, (unsigned long long)b.bytes,
               (unsigned long long)b.stride, (unsigned long long)b.count,
               right ? "overlap" : "do not overlap");
    }
}
