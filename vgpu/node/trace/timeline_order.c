/* SPDX-License-Identifier: MIT
 * timeline_order.c: see timeline_order.h.
 */
#include "timeline_order.h"

#include <stdlib.h>
#include <string.h>

struct numbered {
    struct vgpu_trace_record record;
    uint64_t number; /* index in order of issue */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_issue(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    int c = compare_numbers(x->record.issue_ps, y->record.issue_ps);
    c = c ? c : x->record.device - y->record.device;
    c = c ? c : compare_numbers(x->record.start_ps, y->record.start_ps);
    return c ? c : compare_numbers(x->number, y->number);
}

static int by_ends(const void *a, const void *b)
{
    const struct timeline_arrow *x = a, *y = b;
    int c = compare_numbers(x->from, y->from);
    return c ? c : compare_numbers(x->to, y->to);
}

static int by_time(const void *a, const void *b)
{
    const struct timeline_sample *x = a, *y = b;
    int c = compare_numbers(x->at_ps, y->at_ps);
    return c ? c : x->link - y->link;
}

static int by_start(const void *a, const void *b)
{
    const struct timeline_call *x = a, *y = b;
    int c = compare_numbers(x->start_ps, y->start_ps);
    c = c ? c : compare_numbers(x->thread, y->thread);
    return c ? c : compare_numbers(y->end_ps, x->end_ps); /* a range before what is inside */
}

/* The new index of a record plus 1; 0: not one of these records. */
static uint32_t now_at(const uint64_t *place, uint64_t count, uint64_t first, uint32_t record)
{
    uint64_t number = record - 1 - first;
    return number < count ? (uint32_t)place[number] + 1 : 0;
}

static void order_records(struct vgpu_trace_record *record, struct numbered *numbered,
                          uint64_t *place, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        numbered[i] = (struct numbered){record[i], i};
    qsort(numbered, count, sizeof *numbered, by_issue);
    for (uint64_t i = 0; i < count; i++) {
        record[i] = numbered[i].record;
        place[numbered[i].number] = i;
    }
}

bool timeline_order(struct timeline *t, struct vgpu_trace_record *record, uint64_t count)
{
    struct numbered *numbered = malloc((count + 1) * sizeof *numbered);
    uint64_t *place = malloc((count + 1) * sizeof *place);
    struct timeline_arrow *arrow = malloc((t->arrows + 1) * sizeof *arrow);
    struct timeline_sample *sample = malloc((t->samples + 1) * sizeof *sample);
    struct timeline_call *call = malloc((t->calls + 1) * sizeof *call);
    bool ok = numbered && place && arrow && sample && call;
    if (ok) {
        order_records(record, numbered, place, count);
        for (uint32_t i = 0; i < t->arrows; i++)
            arrow[i] =
                (struct timeline_arrow){now_at(place, count, t->first_record, t->arrow[i].from),
                                        now_at(place, count, t->first_record, t->arrow[i].to)};
        t->arrow = arrow;
        qsort(arrow, t->arrows, sizeof *arrow, by_ends);
        if (t->samples)
            memcpy(sample, t->sample, t->samples * sizeof *sample);
        t->sample = sample;
        qsort(sample, t->samples, sizeof *sample, by_time);
        if (t->calls)
            memcpy(call, t->call, t->calls * sizeof *call);
        t->call = call;
        qsort(call, t->calls, sizeof *call, by_start);
    } else {
        free(arrow);
        free(sample);
        free(call);
    }
    free(place);
    free(numbered);
    return ok;
}
