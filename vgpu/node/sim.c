/* SPDX-License-Identifier: MIT
 * sim.c: see sim.h. Two kinds of events: an operation's phase is over (a heap by time, then by
 * order of issue), and a flow has arrived (flow.c).
 */
#include "sim.h"

#include <stdlib.h>

#include "agenda.h"
#include "cost.h"
#include "engine.h"
#include "flow.h"
#include "host_store.h"
#include "overtaken.h"
#include "sending.h"
#include "slices.h"
#include "timeline.h"
#include "pace.h"
#include "tally.h"
#include "trace.h"

static const struct topology *topology;
static int aside_count, aside_room;
static uint64_t now;
static bool awaited;        /* what somebody awaits has been finished */
static struct op *held;     /* it has to start now and cannot end: the clock stands still with it */
static struct op **waiting; /* kernels whose next slice waits for others' */
static int waiting_count, waiting_room;
static struct op **aside; /* kernels that began before `now`, and poll */

void sim_start(const struct topology *t)
{
    topology = t;
    flow_start(t);
    sending_start(t);
    engine_start(t);
}

uint64_t sim_now(void)
{
    return now;
}

/* When all that `op` depends on is finished its start is known. */
static uint64_t start_of(const struct op *op)
{
    uint64_t ready_ps = op_ready_ps(op);
    return op->issue_ps > ready_ps ? op->issue_ps : ready_ps;
}

static void add_to(struct op ***list, int *count, int *room, struct op *op)
{
    if (*count == *room) {
        *room = 2 * *room + 16;
        *list = realloc(*list, (size_t)*room * sizeof **list);
        if (!*list)
            abort();
    }
    (*list)[(*count)++] = op;
}

/* A mark takes no time: its end is known now, even where the clock has not come so far. A wait for
 * an idle stream therefore lets no time pass, and nothing else happen. A list instead of
 * recursion: chains of marks can be long. */
static void finish_marks(struct op *op)
{
    static struct op **marks;
    static int marks_count, marks_room;
    static bool draining;
    add_to(&marks, &marks_count, &marks_room, op);
    if (draining)
        return;
    draining = true;
    while (marks_count) {
        struct op *mark = marks[--marks_count];
        mark->start_ps = start_of(mark);
        awaited |= mark->awaited;
        op_finished(mark, mark->start_ps);
    }
    draining = false;
}

void sim_ready(struct op *op)
{
    uint64_t at = start_of(op);
    cost_enter();
    if (op->kind == OP_MARK)
        finish_marks(op);
    else
        agenda_push(at > now ? at : now, op, PHASE_START);
    if (op->kind != OP_MARK && at < now && op->seen_ps < now)
        overtaken_note(op, now - at);
    cost_leave();
}

static void wake_waiting(void);

/* Its engine is free now; what set the copy up was done meanwhile. */
static void send_held_copy(struct op *op)
{
    op->start_ps = now;
    send_copy(op);
}

static void finish(struct op *op)
{
    struct op *next = engine_leave(op);
    cost_operation();
    trace_operation(op, now);
    op_keep(op);
    awaited |= op->awaited;
    op_finished(op, now);
    tally_copied(op);
    pace_finished(op);
    if (waiting_count)
        wake_waiting();
    if (next)
        send_held_copy(next);
    op_drop(op);
}

static void wait_for_slices(struct op *op)
{
    add_to(&waiting, &waiting_count, &waiting_room, op);
    op->slices->waits = true;
}

/* From the next slice on, up to one that has bytes to move or has to wait. */
static void send_slices(struct op *op)
{
    struct slices *s = op->slices;
    for (bool far = false; s->done < s->count && op->flows == 0 && !s->waits;) {
        if (!slices_may_begin(op, &far)) {
            wait_for_slices(op);
            return;
        }
        send_counts(op, &s->slice[s->done].counts);
        if (op->flows == 0) {
            s->done++;
            wake_waiting();
        }
    }
}

static void send_kernel(struct op *op)
{
    if (op->slices)
        send_slices(op);
    else
        send_counts(op, op->counts);
}

/* Something is over: slices that come after it begin, those on another GPU when they hear of it. */
static void wake_waiting(void)
{
    int left = 0;
    for (int i = 0; i < waiting_count; i++) {
        struct op *op = waiting[i];
        bool far = false;
        if (!slices_may_begin(op, &far)) {
            waiting[left++] = op;
            continue;
        }
        op->slices->waits = false;
        agenda_push(now + (far ? topology->path[PATH_PEER].latency_ps : 0), op, PHASE_LATENCY);
    }
    waiting_count = left;
}

/* True: a slice of the kernel is over and another one goes on, or waits. */
static bool send_next_slice(struct op *op)
{
    if (op->kind != OP_KERNEL || !op->slices || op->slices->done == op->slices->count)
        return false;
    op->slices->done++;
    send_slices(op);
    wake_waiting();
    return op->flows > 0 || op->slices->waits;
}

/* What the operation does to memory is not the clock's. */
static enum progress carry_out(struct op *op)
{
    cost_pause();
    enum progress progress = order_carry_out(op);
    cost_resume();
    return progress;
}

static enum progress begin_kernel(struct op *op)
{
    if (carry_out(op) == PROGRESS_BLOCKED)
        return PROGRESS_BLOCKED;
    agenda_push(host_store_time(op, now) + (op->counts ? kernel_latency(op) : 0), op,
                PHASE_LATENCY);
    return PROGRESS_DONE;
}

/* What the function computes costs nothing, as elsewhere on the host; its thread has to wake up. */
static enum progress begin_host(struct op *op)
{
    if (carry_out(op) == PROGRESS_BLOCKED)
        return PROGRESS_BLOCKED;
    agenda_push(now + topology->cost.host_function_ps, op, PHASE_LATENCY);
    return PROGRESS_DONE;
}

static void send(struct op *op)
{
    if (op->kind == OP_COPY && !engine_take(op))
        return;
    if (op->kind == OP_COPY)
        send_copy(op);
    else if (op->kind == OP_KERNEL && op->counts) {
        slices_join(op);
        send_kernel(op);
    } else if (op->kind == OP_MEMSET)
        send_memset(op);
    if (op->flows == 0 && !(op->kind == OP_KERNEL && op->slices && op->slices->waits))
        finish(op);
}

static enum progress start(struct op *op)
{
    op->start_ps = now;
    switch (op->kind) {
    case OP_MARK:  /* finished when it was ready */
    case OP_TOUCH: /* never submitted */
        break;
    case OP_COPY:
        agenda_push(now + copy_latency(op), op, PHASE_LATENCY);
        break;
    case OP_MEMSET:
        agenda_push(now + topology->cost.kernel_floor_ps, op, PHASE_LATENCY);
        break;
    case OP_FREE: /* a word in a table */
        agenda_push(now, op, PHASE_LATENCY);
        break;
    case OP_HOST:
        return begin_host(op);
    case OP_KERNEL:
        return begin_kernel(op);
    }
    return PROGRESS_DONE;
}

static void set_aside(struct op *op)
{
    op->start_ps = now;
    add_to(&aside, &aside_count, &aside_room, op);
}

/* Those that need not poll any longer take their time from now on. */
static void take_back(void)
{
    int left = 0;
    for (int i = 0; i < aside_count; i++) {
        struct op *op = aside[i];
        if (op->carried)
            agenda_push(host_store_time(op, now) + (op->counts ? kernel_latency(op) : 0), op,
                        PHASE_LATENCY);
        else
            aside[left++] = op;
    }
    aside_count = left;
}

bool sim_host_polled(void)
{
    return held && host_store_waited(held);
}

bool sim_pass_by(void)
{
    if (!held || held->kind != OP_KERNEL)
        return false;
    set_aside(held);
    held = NULL;
    return true;
}

/* Starts `op`, or holds the clock where it is: what has to start at the same time comes later. */
static enum progress start_or_hold(struct op *op)
{
    enum progress progress = start(op);
    held = progress == PROGRESS_BLOCKED ? op : NULL;
    return progress;
}

/* One event that happens at or before `limit_ps`. False: there is none. */
static bool advance(uint64_t limit_ps, enum progress *progress)
{
    *progress = PROGRESS_DONE;
    if (held) {
        if (now > limit_ps)
            return false;
        *progress = start_or_hold(held);
        return true;
    }
    uint64_t flow_ps = flow_next_ps(), event_ps = agenda_next_ps();
    if ((flow_ps < event_ps ? flow_ps : event_ps) > limit_ps ||
        (event_ps == AGENDA_EMPTY && flow_ps == FLOW_NEVER))
        return false;
    if (flow_ps <= event_ps) {
        now = flow_ps > now ? flow_ps : now;
        struct op *op = flow_take_arrived(flow_ps);
        if (op && --op->flows == 0 && !send_later_bytes(op) && !send_next_slice(op))
            finish(op);
        return true;
    }
    struct happening event = agenda_pop();
    now = event.at_ps;
    if (event.phase == PHASE_START)
        *progress = start_or_hold(event.op);
    else
        send(event.op);
    return true;
}

enum progress sim_pass(uint64_t time_ps)
{
    enum progress progress = PROGRESS_DONE;
    cost_enter();
    take_back();
    while (progress == PROGRESS_DONE && advance(time_ps, &progress))
        ;
    cost_leave();
    if (progress == PROGRESS_DONE && time_ps != UINT64_MAX && time_ps > now)
        now = time_ps;
    return progress;
}

enum sim_ran sim_run(uint64_t end_ps)
{
    enum progress progress = PROGRESS_DONE;
    cost_enter();
    take_back();
    awaited = false;
    while (!awaited && progress == PROGRESS_DONE && end_ps && advance(end_ps - 1, &progress))
        ;
    cost_leave();
    return awaited ? SIM_AWAITED : progress == PROGRESS_DONE ? SIM_REACHED : SIM_POLLS;
}

bool sim_restart(void)
{
    if (sim_pass(UINT64_MAX) != PROGRESS_DONE || agenda_next_ps() != AGENDA_EMPTY || held ||
        aside_count || waiting_count)
        return false;
    flow_restart();
    slices_forget(NULL);
    now = 0;
    return true;
}
