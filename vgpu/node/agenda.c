/* SPDX-License-Identifier: MIT
 * agenda.c: a binary heap; see agenda.h.
 */
#include "agenda.h"

#include <stdbool.h>
#include <stdlib.h>

#include "op.h"

static struct happening *heap;
static int count, room;

static bool before(const struct happening *a, const struct happening *b)
{
    return a->at_ps < b->at_ps || (a->at_ps == b->at_ps && a->op->seq < b->op->seq);
}

void agenda_push(uint64_t at_ps, struct op *op, enum phase phase)
{
    if (count == room) {
        room = room ? 2 * room : 256;
        heap = realloc(heap, (size_t)room * sizeof *heap);
        if (!heap)
            abort();
    }
    struct happening event = {at_ps, op, phase};
    int i = count++;
    for (; i > 0 && before(&event, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = event;
}

struct happening agenda_pop(void)
{
    struct happening top = heap[0], last = heap[--count];
    int i = 0;
    for (;;) {
        int child = 2 * i + 1;
        if (child >= count)
            break;
        if (child + 1 < count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

uint64_t agenda_next_ps(void)
{
    return count ? heap[0].at_ps : AGENDA_EMPTY;
}
