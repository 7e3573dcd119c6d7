/* SPDX-License-Identifier: MIT
 * event_queue.h: the simulator's event queue, a heap ordered by (time, order of issue).
 */
#ifndef VGPU_EVENT_QUEUE_H
#define VGPU_EVENT_QUEUE_H

#include <stdint.h>

struct op;

#define EVENT_NEVER UINT64_MAX
#define EVENT_LAST (UINT64_MAX >> 1) /* later events are moved to this time */

enum phase { PHASE_START, PHASE_LATENCY, PHASE_ENGINE };

struct sim_event {
    uint64_t at_ps;
    struct op *op;
    enum phase phase;
};

struct event_queue { /* all zero: empty */
    struct sim_event *heap;
    int count, room;
};

void event_push(struct event_queue *queue, uint64_t at_ps, struct op *op, enum phase phase);

/* The time of the next event, or EVENT_NEVER. */
uint64_t event_next_ps(const struct event_queue *queue);

/* Removes the next event. The queue must not be empty. */
struct sim_event event_pop(struct event_queue *queue);

/* Frees the queue's memory; the queue is empty afterwards. */
void event_queue_end(struct event_queue *queue);

#endif
