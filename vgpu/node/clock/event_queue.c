/* SPDX-License-Identifier: MIT
 * event_queue.c: a binary heap; see event_queue.h.
 */
#include "event_queue.h"

#include <stdbool.h>

#include "op.h"
#include "reserve.h"

static bool is_earlier(const struct sim_event *a, const struct sim_event *b)
{
    return a->at_ps < b->at_ps || (a->at_ps == b->at_ps && a->op->seq < b->op->seq);
}

void event_push(struct event_queue *queue, uint64_t at_ps, struct op *op, enum phase phase)
{
    if (queue->count == queue->room) {
        size_t had = (size_t)queue->room * sizeof *queue->heap;
        queue->room = queue->room ? 2 * queue->room : 256;
        queue->heap = reserve_grow(queue->heap, had, (size_t)queue->room * sizeof *queue->heap);
    }
    struct sim_event *heap = queue->heap;
    struct sim_event event = {at_ps < EVENT_LAST ? at_ps : EVENT_LAST, op, phase};
    int i = queue->count++;
    for (; i > 0 && is_earlier(&event, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = event;
}

struct sim_event event_pop(struct event_queue *queue)
{
    struct sim_event *heap = queue->heap, top = heap[0], last = heap[--queue->count];
    int i = 0;
    for (;;) {
        int child = 2 * i + 1;
        if (child >= queue->count)
            break;
        if (child + 1 < queue->count && is_earlier(&heap[child + 1], &heap[child]))
            child++;
        if (!is_earlier(&heap[child], &last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

uint64_t event_next_ps(const struct event_queue *queue)
{
    return queue->count ? queue->heap[0].at_ps : EVENT_NEVER;
}

void event_queue_end(struct event_queue *queue)
{
    reserve_give(queue->heap);
    *queue = (struct event_queue){0};
}
