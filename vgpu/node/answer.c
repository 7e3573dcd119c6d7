/* SPDX-License-Identifier: MIT
 * answer.c: see answer.h.
 */
#include "answer.h"

#include <stdbool.h>
#include <string.h>

#define END(text) ((text)[sizeof(text) - 1] = '\0')

enum { MOST_VARIABLES = 1 << 16 };              /* of one image; each is kept */
static const uint64_t most_cycles = 1ull << 44; /* hours: their picoseconds can be added up */

static void limit(uint32_t *number, size_t most)
{
    if (*number > most)
        *number = (uint32_t)most;
}

void answer_tame(struct vgpu_exec_reply *reply, size_t got)
{
    limit(&reply->data_bytes, got - sizeof *reply);
    limit(&reply->printf_bytes, reply->data_bytes);
    limit(&reply->span_count, reply->data_bytes / sizeof(struct vgpu_span));
    limit(&reply->var_count, MOST_VARIABLES);
    limit(&reply->stray_count, VGPU_STRAYS);
    limit(&reply->hazard_count, VGPU_HAZARDS);
    limit(&reply->signals.stored_count, VGPU_SIGNALS);
    limit(&reply->signals.polled_count, VGPU_SIGNALS);
    for (uint32_t i = 0; i < VGPU_SIGNALS; i++)
        if (reply->signals.bytes[i] > sizeof reply->signals.value[i])
            reply->signals.bytes[i] = sizeof reply->signals.value[i];
    if (reply->counts.cycles > most_cycles)
        reply->counts.cycles = most_cycles;
    if (reply->counts.conflicts > most_cycles)
        reply->counts.conflicts = most_cycles;
    END(reply->counts.conflict_where);
    END(reply->text);
    END(reply->fault.where);
    for (int i = 0; i < VGPU_STRAYS; i++)
        END(reply->stray[i].where);
    for (int i = 0; i < VGPU_HAZARDS; i++) {
        END(reply->hazards[i].first.where);
        END(reply->hazards[i].second.where);
    }
}

/* ---- spans ---- */

static struct vgpu_span spans[VGPU_SPANS];
static uint32_t span_count;

void answer_forget_spans(void)
{
    span_count = 0;
}

/* Whether there is such a piece of memory. Pieces that touch become one: whoever walks along spans
 * makes at least a stride with each step. */
static bool in_shape(struct vgpu_span *s)
{
    uint64_t all;
    if (s->count == 0 || s->bytes == 0 || s->use >= VGPU_USES)
        return false;
    if (__builtin_mul_overflow(s->count - 1, s->stride, &all) ||
        __builtin_add_overflow(all, s->bytes, &all) || s->address + all < all)
        return false;
    if (s->stride <= s->bytes) {
        s->bytes = all;
        s->count = 1;
    }
    return true;
}

void answer_take_spans(const struct vgpu_exec_reply *reply)
{
    for (uint32_t i = 0; i < reply->span_count && span_count < VGPU_SPANS; i++) {
        memcpy(&spans[span_count], reply->data + i * sizeof *spans, sizeof *spans);
        span_count += in_shape(&spans[span_count]);
    }
}

const struct vgpu_span *answer_spans(void)
{
    return spans;
}

uint32_t answer_span_count(void)
{
    return span_count;
}
