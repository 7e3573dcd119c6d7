/* SPDX-License-Identifier: MIT
 * test_span.c: sets of bytes at equal distances: whether two overlap, against counting bytes.
 */
#include "span.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 512, ROUNDS = 200000 };

static uint64_t state = 20261121;

static uint64_t below(uint64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

static struct vgpu_span any_span(void)
{
    struct vgpu_span s = {.address = 1000 + below(64), .bytes = 1 + below(12)};
    s.stride = 1 + below(40);
    s.count = 1 + below(10);
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

static int report(const struct vgpu_span *a, const struct vgpu_span *b, bool right)
{
    fprintf(stderr, "%llu+%llu every %llu, %llu times and %llu+%llu every %llu, %llu times: %s\n",
            (unsigned long long)a->address, (unsigned long long)a->bytes,
            (unsigned long long)a->stride, (unsigned long long)a->count,
            (unsigned long long)b->address, (unsigned long long)b->bytes,
            (unsigned long long)b->stride, (unsigned long long)b->count,
            right ? "they overlap" : "they do not overlap");
    return 1;
}

int main(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct vgpu_span a = any_span(), b = any_span();
        if (i % 2)
            b.stride = a.stride; /* the case with a short cut */
        bool right = counted(&a, &b);
        if (span_overlap(&a, &b) != right || span_overlap(&b, &a) != right)
            return report(&a, &b, right);
    }
    return 0;
}
