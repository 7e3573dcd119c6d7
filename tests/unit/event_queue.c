/* SPDX-License-Identifier: MIT
 * event_queue.c: the simulator's event queue against a sorted list.
 */
#include "event_queue.h"

#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "unit.h"

enum { MOST = 600, STEPS = 20000 };

static bool is_earlier(struct sim_event a, struct sim_event b)
{
    return a.at_ps < b.at_ps || (a.at_ps == b.at_ps && a.op->seq < b.op->seq);
}

/* The list that is surely right: its first is the next one. */
static struct sim_event sorted[MOST];
static int sorted_count;

static void insert_sorted(struct sim_event event)
{
    int i = sorted_count++;
    for (; i > 0 && is_earlier(event, sorted[i - 1]); i--)
        sorted[i] = sorted[i - 1];
    sorted[i] = event;
}

static void push_both(struct event_queue *queue, struct op *op)
{
    struct sim_event event = {unit_dice(50), op, unit_dice(2) ? PHASE_START : PHASE_LATENCY};
    event_push(queue, event.at_ps, event.op, event.phase);
    insert_sorted(event);
}

static void pop_both(struct event_queue *queue)
{
    EXPECT(event_next_ps(queue) == sorted[0].at_ps, "the next is at %llu, not at %llu",
           (unsigned long long)event_next_ps(queue), (unsigned long long)sorted[0].at_ps);
    struct sim_event got = event_pop(queue);
    EXPECT(got.op == sorted[0].op && got.phase == sorted[0].phase,
           "operation %llu comes before %llu", (unsigned long long)got.op->seq,
           (unsigned long long)sorted[0].op->seq);
    memmove(sorted, sorted + 1, (size_t)--sorted_count * sizeof *sorted);
}

UNIT(event_queue_is_a_sorted_list)
{
    struct event_queue queue = {0};
    struct op *ops = calloc(MOST, sizeof *ops);
    int free_op[MOST], free_count = MOST;
    for (int i = 0; i < MOST; i++) {
        ops[i].seq = (uint64_t)i;
        free_op[i] = i;
    }
    unit_seed(1);
    for (int step = 0; step < STEPS; step++) {
        bool full = sorted_count == MOST || free_count == 0, rises = step / 2000 % 2 == 0;
        if (!full && (sorted_count == 0 || unit_dice(10) < (rises ? 7 : 3))) {
            int at = (int)unit_dice((uint64_t)free_count), op = free_op[at];
            free_op[at] = free_op[--free_count];
            push_both(&queue, &ops[op]);
        } else {
            free_op[free_count++] = (int)(sorted[0].op - ops);
            pop_both(&queue);
        }
    }
    while (sorted_count)
        pop_both(&queue);
    EXPECT(event_next_ps(&queue) == EVENT_NEVER, "an empty queue has a next event");
    event_queue_end(&queue);
    free(ops);
}

UNIT(event_queues_are_apart)
{
    struct op early = {.seq = 1}, late = {.seq = 2};
    struct event_queue one = {0}, other = {0};
    event_push(&one, 10, &early, PHASE_START);
    event_push(&other, 5, &late, PHASE_START);
    EXPECT(event_next_ps(&one) == 10 && event_next_ps(&other) == 5, "one sees the other's events");
    EXPECT(event_pop(&other).op == &late, "an event of another queue");
    EXPECT(event_next_ps(&other) == EVENT_NEVER && event_next_ps(&one) == 10, "it took both");
    event_queue_end(&one);
    event_queue_end(&other);
}
