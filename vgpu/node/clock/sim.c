/* SPDX-License-Identifier: MIT
 * sim.c: see sim.h. There are two kinds of events: a phase of an operation ends (event_queue.h),
 * and a flow arrives (flow.c).
 */
#include "sim.h"

#include <stdlib.h>

#include "cost.h"
#include "engine.h"
#include "event_queue.h"
#include "flow.h"
#include "late_issue.h"
#include "meeting.h"
#include "observer.h"
#include "op_costs.h"
#include "op_flows.h"
#include "protocol_exec.h"
#include "slices.h"

struct sim {
    const struct topology *topology;
    struct event_queue events;
    uint64_t now;
    bool awaited; /* an awaited operation has finished */
    /* The operation that starts now and cannot proceed, so that it holds the clock. */
    struct op *held;
    struct op_list waiting; /* kernels whose next slice waits for other slices */
    struct op_list aside;   /* kernels that started before `now` and still poll */
    struct op_list marks;   /* marks to be finished */
    bool draining;          /* finish_marks is running */
    struct flows *flows;
    struct sender sender;
    struct engines engines;
    struct meetings meetings;
    struct stores_seen stores;
    struct op_observer observer;
    struct cost cost;
};

void sim_report_cost(const struct sim *s)
{
    cost_report(&s->cost);
}

uint64_t sim_now(const struct sim *s)
{
    return s->now;
}

void sim_watch_rates(struct sim *s,
                     void (*watch)(void *self, uint64_t at_ps, const double *bytes_s), void *self)
{
    flows_watch(s->flows, watch, self);
}

void sim_watch_bytes(struct sim *s,
                     void (*watch)(void *self, const struct route *route, uint64_t bytes),
                     void *self)
{
    s->sender.watch = watch;
    s->sender.self = self;
}

/* The start time; known when everything that `op` depends on has finished. */
static uint64_t start_time(const struct op *op)
{
    return op->issue_ps > op->ready_ps ? op->issue_ps : op->ready_ps;
}

/* A mark takes no time, so its end is known at once, even if the clock has not reached it. So a
 * wait for an idle stream does not advance time. A list instead of recursion, since chains of marks
 * can be long. */
static void finish_marks(struct sim *s, struct op *op)
{
    op_list_add(&s->marks, op);
    if (s->draining)
        return;
    s->draining = true;
    while (s->marks.count) {
        struct op *mark = op_list_pop(&s->marks);
        mark->start_ps = start_time(mark);
        s->awaited |= mark->awaited;
        op_finished(mark, mark->start_ps);
        op_drop(mark);
    }
    s->draining = false;
}

static void schedule_start(struct sim *s, struct op *op)
{
    uint64_t at = start_time(op);
    event_push(&s->events, at > s->now ? at : s->now, op, PHASE_START);
    if (at < s->now && op->seen_ps < s->now)
        late_issue_note(op, s->now - at);
}

static void op_is_ready(void *self, struct op *op)
{
    struct sim *s = self;
    cost_enter(&s->cost);
    if (op->kind == OP_MARK)
        finish_marks(s, op); /* `op` may have been freed */
    else
        schedule_start(s, op);
    cost_leave(&s->cost);
}

static void wake_waiting(struct sim *s);

/* The engine that the copy waited for has become free: only now it sets the copy up. */
static void start_held_copy(struct sim *s, struct op *op)
{
    op->start_ps = s->now;
    event_push(&s->events, s->now + copy_latency(s->topology, op), op, PHASE_ENGINE);
}

static void finish_op(struct sim *s, struct op *op)
{
    struct op *next = engines_leave(op);
    s->cost.operations++;
    op_keep(op);
    s->awaited |= op->awaited;
    op_finished(op, s->now);
    if (s->waiting.count)
        wake_waiting(s);
    if (next)
        start_held_copy(s, next);
    op_drop(op);
}

static void wait_for_slices(struct sim *s, struct op *op)
{
    op_list_add(&s->waiting, op);
    op->clock.slices->waits = true;
}

/* Starts slices from the next one on, up to one that has bytes to move or must wait. */
static void send_slices(struct sim *s, struct op *op)
{
    struct slices *slices = op->clock.slices;
    for (bool far = false;
         slices->done < slices->count && op->clock.flows == 0 && !slices->waits;) {
        if (!slices_may_begin(op, &far)) {
            wait_for_slices(s, op);
            return;
        }
        send_counts(&s->sender, op, s->now, &slices->slice[slices->done].counts);
        if (op->clock.flows == 0) {
            slices->done++;
            wake_waiting(s);
        }
    }
}

static void send_kernel(struct sim *s, struct op *op)
{
    if (op->clock.meeting.begun)
        meeting_send(&s->sender, op, s->now);
    else if (op->clock.slices)
        send_slices(s, op);
    else
        send_counts(&s->sender, op, s->now, op->counts);
}

/* An operation or slice is over: starts slices that depend on it, those on other GPUs after a
 * delay. */
static void wake_waiting(struct sim *s)
{
    for (int i = 0; i < s->waiting.count;) {
        struct op *op = s->waiting.item[i];
        bool far = false;
        if (!slices_may_begin(op, &far)) {
            i++;
            continue;
        }
        op_list_take(&s->waiting, i);
        op->clock.slices->waits = false;
        event_push(&s->events, s->now + (far ? s->topology->path[PATH_PEER].latency_ps : 0), op,
                   PHASE_LATENCY);
        op_drop(op);
    }
}

/* True: a slice of the kernel is over, and the next one has started or waits. */
static bool send_next_slice(struct sim *s, struct op *op)
{
    if (op->kind != OP_KERNEL || !op->clock.slices ||
        op->clock.slices->done == op->clock.slices->count)
        return false;
    op->clock.slices->done++;
    send_slices(s, op);
    wake_waiting(s);
    return op->clock.flows > 0 || op->clock.slices->waits;
}

/* Carries out the effect, whose real time is not counted as the clock's. */
static enum progress carry_out_op(struct sim *s, struct op *op)
{
    if (op->carried)
        return PROGRESS_DONE;
    cost_pause(&s->cost);
    enum progress progress = order_carry_out(op);
    cost_resume(&s->cost);
    return progress;
}

/* The time when a kernel continues after a store by the host. */
static uint64_t resume_time(const struct sim *s, const struct op *op)
{
    return op->stores.stored_ps > s->now ? op->stores.stored_ps : s->now;
}

static void schedule_kernel(struct sim *s, struct op *op)
{
    uint64_t latency_ps = op->counts ? kernel_latency(s->topology, op) : 0;
    if (op->counts && meeting_is_for(s->topology, op))
        latency_ps = op->graph == VGPU_GRAPH_NONE ? s->topology->cost.kernel_delay_ps : 0;
    else if (op->counts)
        slices_join(op);
    event_push(&s->events, resume_time(s, op) + latency_ps, op, PHASE_LATENCY);
}

static enum progress begin_kernel(struct sim *s, struct op *op)
{
    if (carry_out_op(s, op) == PROGRESS_BLOCKED)
        return PROGRESS_BLOCKED;
    schedule_kernel(s, op);
    return PROGRESS_DONE;
}

/* The function's computation takes no virtual time, like other host code; waking its thread does.
 */
static enum progress begin_host(struct sim *s, struct op *op)
{
    if (carry_out_op(s, op) == PROGRESS_BLOCKED)
        return PROGRESS_BLOCKED;
    event_push(&s->events, s->now + s->topology->cost.host_function_ps, op, PHASE_LATENCY);
    return PROGRESS_DONE;
}

/* `has_engine`: it is a copy whose engine has been set up for it. */
static void send_op(struct sim *s, struct op *op, bool has_engine)
{
    if (op->kind == OP_COPY && !has_engine && !engines_take(&s->engines, op))
        return;
    if (meeting_is_for(s->topology, op) && !op->clock.meeting.come) {
        meetings_come(&s->meetings, op, s->now);
        return;
    }
    if (op->kind == OP_COPY)
        send_copy(&s->sender, op, s->now);
    else if (op->kind == OP_KERNEL && op->counts)
        send_kernel(s, op);
    else if (op->kind == OP_MEMSET)
        send_memset(&s->sender, op, s->now);
    if (op->clock.flows == 0 &&
        !(op->kind == OP_KERNEL && op->clock.slices && op->clock.slices->waits))
        finish_op(s, op);
}

static enum progress start_op(struct sim *s, struct op *op)
{
    op->start_ps = s->now;
    switch (op->kind) {
    case OP_MARK:  /* finished when it became ready */
    case OP_TOUCH: /* never submitted */
        break;
    case OP_COPY:
        event_push(&s->events, s->now + copy_latency(s->topology, op), op, PHASE_LATENCY);
        break;
    case OP_MEMSET:
        event_push(&s->events, s->now + fill_latency(s->topology, op), op, PHASE_LATENCY);
        break;
    case OP_FREE: /* a change in a table only */
        event_push(&s->events, s->now, op, PHASE_LATENCY);
        break;
    case OP_HOST:
        return begin_host(s, op);
    case OP_KERNEL:
        return begin_kernel(s, op);
    }
    return PROGRESS_DONE;
}

static void set_aside(struct sim *s, struct op *op)
{
    op->start_ps = s->now;
    op_list_add(&s->aside, op);
}

/* Kernels in `aside` that no longer poll continue from now on. */
static void resume_aside(struct sim *s)
{
    for (int i = 0; i < s->aside.count;) {
        struct op *op = s->aside.item[i];
        if (!op->carried) {
            i++;
            continue;
        }
        schedule_kernel(s, op);
        op_drop(op_list_take(&s->aside, i));
    }
}

bool sim_host_polled(struct sim *s)
{
    return s->held && s->held->stores.watched;
}

bool sim_pass_by(struct sim *s)
{
    if (!s->held || s->held->kind != OP_KERNEL)
        return false;
    set_aside(s, s->held);
    s->held = NULL;
    return true;
}

/* Starts `op`. If it is blocked, it holds the clock, and later operations of the same time wait. */
static enum progress start_or_hold(struct sim *s, struct op *op)
{
    enum progress progress = start_op(s, op);
    s->held = progress == PROGRESS_BLOCKED ? op : NULL;
    return progress;
}

/* Processes one event at or before `limit_ps`. False: there is none. */
static bool advance_clock(struct sim *s, uint64_t limit_ps, enum progress *progress)
{
    *progress = PROGRESS_DONE;
    if (s->held) {
        if (s->now > limit_ps)
            return false;
        *progress = start_or_hold(s, s->held);
        return true;
    }
    uint64_t flow_ps = flows_next_ps(s->flows), event_ps = event_next_ps(&s->events);
    if (event_ps == EVENT_NEVER && flow_ps == FLOW_NEVER)
        return s->aside.count == 0 && s->waiting.count == 0 && meetings_leave(&s->meetings, s->now);
    if ((flow_ps < event_ps ? flow_ps : event_ps) > limit_ps)
        return false;
    if (flow_ps <= event_ps) {
        s->now = flow_ps > s->now ? flow_ps : s->now;
        struct op *op = flows_take_arrived(s->flows, flow_ps);
        if (op && --op->clock.flows == 0 && !send_later_bytes(&s->sender, op, s->now) &&
            !send_next_slice(s, op))
            finish_op(s, op);
        return true;
    }
    struct sim_event event = event_pop(&s->events);
    s->now = event.at_ps;
    if (event.phase == PHASE_START)
        *progress = start_or_hold(s, event.op);
    else
        send_op(s, event.op, event.phase == PHASE_ENGINE);
    return true;
}

enum progress sim_pass(struct sim *s, uint64_t time_ps)
{
    enum progress progress = PROGRESS_DONE;
    cost_enter(&s->cost);
    resume_aside(s);
    while (progress == PROGRESS_DONE && advance_clock(s, time_ps, &progress))
        ;
    cost_leave(&s->cost);
    if (progress == PROGRESS_DONE && time_ps != UINT64_MAX && time_ps > s->now)
        s->now = time_ps;
    return progress;
}

enum sim_ran sim_run(struct sim *s, uint64_t end_ps)
{
    enum progress progress = PROGRESS_DONE;
    cost_enter(&s->cost);
    resume_aside(s);
    s->awaited = false;
    while (!s->awaited && progress == PROGRESS_DONE && end_ps &&
           advance_clock(s, end_ps - 1, &progress))
        ;
    cost_leave(&s->cost);
    return s->awaited ? SIM_AWAITED : progress == PROGRESS_DONE ? SIM_REACHED : SIM_POLLS;
}

bool sim_restart(struct sim *s)
{
    if (sim_pass(s, UINT64_MAX) != PROGRESS_DONE || event_next_ps(&s->events) != EVENT_NEVER ||
        s->held || s->aside.count || s->waiting.count || s->meetings.waiting.count)
        return false;
    flows_restart(s->flows);
    slices_forget(&s->stores, NULL);
    s->now = 0;
    return true;
}

/* ---- what kernels store and poll ---- */

static void kernel_ran(void *self, struct op *op, const struct kernel_report *report)
{
    struct sim *s = self;
    const struct vgpu_exec_reply *reply = report->reply;
    if (meeting_is_for(s->topology, op))
        return;
    if (reply->status != VGPU_STALLED || reply->moved || !report->resumed)
        slices_add(&s->stores, op, &reply->counts, &reply->signals, report->resumed);
}

static void effect_done(void *self, struct op *op)
{
    struct sim *s = self;
    slices_effect(&s->stores, op);
}

static void op_is_freed(void *self, struct op *op)
{
    (void)self;
    slices_free(op);
}

static void process_ends(void *self, struct process *process)
{
    struct sim *s = self;
    slices_forget(&s->stores, process);
}

/* ---- creation and end ---- */

struct sim *sim_new(const struct topology *topology)
{
    struct sim *s = calloc(1, sizeof *s);
    struct flows *flows = s ? flows_new(topology) : NULL;
    if (!flows) {
        free(s);
        return NULL;
    }
    s->topology = topology;
    s->flows = flows;
    s->sender = (struct sender){.topology = topology, .flows = flows};
    s->engines.topology = topology;
    s->meetings = (struct meetings){.topology = topology, .events = &s->events};
    cost_start(&s->cost);
    s->observer = (struct op_observer){.self = s,
                                       .ready = op_is_ready,
                                       .ran = kernel_ran,
                                       .done = effect_done,
                                       .freed = op_is_freed,
                                       .process_ends = process_ends};
    return s;
}

void sim_observe(struct sim *s)
{
    op_observe(&s->observer);
}

void sim_unobserve(struct sim *s)
{
    op_unobserve(&s->observer);
}

void sim_end(struct sim *s)
{
    if (!s)
        return;
    slices_forget(&s->stores, NULL);
    op_list_free(&s->waiting);
    op_list_free(&s->meetings.waiting);
    op_list_free(&s->aside);
    op_list_free(&s->marks);
    event_queue_end(&s->events);
    flows_end(s->flows);
    op_unobserve(&s->observer);
    free(s);
}
