/* SPDX-License-Identifier: MIT
 * request_stream.c: streams and events.
 */
#include "counts.h"
#include "machine.h"
#include "observer.h"
#include "reply.h"
#include "request.h"
#include "server.h"

#include "misuse.h"
#include "inject.h"
#include "ipc_event.h"
#include "order.h"
#include "process.h"
#include "reserve.h"
#include "sim.h"
#include "trace.h"

struct stream *request_stream(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    bool of_device = q->stream == VGPU_STREAM_LEGACY || q->stream == VGPU_STREAM_PER_THREAD;
    if (of_device && !request_device(c, q->device))
        return NULL;
    if (reserve_is_low()) {
        request_fail(c, VGPU_OUT_OF_MEMORY,
                     "the node has no memory left for more work: this computer's memory is used "
                     "up, or the node's is limited (ulimit -v)");
        return NULL;
    }
    struct stream *s = stream_find(c->process, q->stream, q->device, c);
    if (!s && q->stream == VGPU_STREAM_PER_THREAD)
        request_fail(c, VGPU_OUT_OF_MEMORY, "the node has no memory left for the thread's stream");
    else if (!s)
        request_fail(c, VGPU_INVALID_HANDLE,
                     "the stream does not exist: destroyed already, or never created?");
    else if (!of_device && !request_device(c, s->device))
        return NULL;
    return s;
}

static struct event *find_event(struct connection *c, uint64_t id)
{
    if (c->process->sticky) {
        c->reply.r.error = c->process->sticky;
        return NULL;
    }
    struct event *e = event_find(c->process, id);
    if (!e)
        request_fail(c, VGPU_INVALID_HANDLE,
                     "the event does not exist: destroyed already, or never created?");
    return e;
}

/* The same for calls that wait or record. An event is invalid once the process that made it has
 * ended, or if the process that recorded it ended or failed before its work was done. */
static struct event *find_live_event(struct connection *c, uint64_t id)
{
    struct event *e = find_event(c, id);
    if (!e)
        return NULL;
    const struct op *op = e->shared->recorded;
    if (e->shared->lost)
        request_fail(
            c, VGPU_INVALID_HANDLE,
            "the process that made the event has ended: the event will never be recorded again");
    else if (op && op->process != c->process && op_is_lost(op))
        request_fail(c, VGPU_LAUNCH_FAILURE,
                     "the event was recorded by process %d, which ended or failed since",
                     (int)op->process->pid);
    else
        return e;
    return NULL;
}

void request_stream_create(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    if (!request_device(c, q->device))
        return;
    if (q->flags & ~STREAM_NON_BLOCKING) {
        request_fail(c, VGPU_INVALID_VALUE, "stream flags %#x: use 0 or cudaStreamNonBlocking",
                     q->flags);
        return;
    }
    struct stream *s = stream_new(c->process, q->device, q->flags, q->priority);
    if (!s) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "no memory for a stream");
        return;
    }
    s->made_at = q->caller;
    c->reply.r.value = s->id;
    node_counts.streams++;
}

void request_stream_destroy(struct connection *c)
{
    struct stream *s = request_stream(c);
    if (!s)
        return;
    if (c->request.q.stream < 3)
        request_fail(c, VGPU_INVALID_HANDLE, "a default stream cannot be destroyed");
    else
        stream_free(s);
}

void request_stream_sync(struct connection *c)
{
    struct stream *s = request_stream(c);
    node_counts.syncs++;
    if (s)
        request_wait(c, stream_mark(s, c->request.q.clock_ps));
}

/* VGPU_SUCCESS if `op` is over at the caller's time, and its effect visible; else VGPU_NOT_READY.
 */
static int query_op(struct connection *c, struct op *op)
{
    request_cost(c, machine->cost.query_ps);
    node_counts.completion_checks++;
    /* A host function may keep the time of other streams from passing. */
    (void)sim_pass(server_state.sim, c->request.q.clock_ps);
    if (!op->finished || op->end_ps > c->request.q.clock_ps ||
        order_carry_out(op) == PROGRESS_BLOCKED)
        return VGPU_NOT_READY;
    op_seen(op);
    return c->process->sticky;
}

void request_stream_query(struct connection *c)
{
    struct stream *s = request_stream(c);
    if (!s)
        return;
    struct op *mark = stream_mark(s, c->request.q.clock_ps);
    c->reply.r.error = query_op(c, mark);
    op_drop(mark);
}

/* True the first time that the caller asks about this recording. Notes it. */
static bool is_unheard_recording(struct connection_heard *heard, const struct event *e)
{
    const unsigned room = sizeof heard->of / sizeof *heard->of;
    unsigned i = 0;
    while (i < room && heard->of[i].event != e->id)
        i++;
    if (i == room)
        i = heard->next++ % room;
    else if (heard->of[i].recordings == e->shared->recordings)
        return false;
    heard->of[i].event = e->id;
    heard->of[i].recordings = e->shared->recordings;
    return true;
}

/* The caller can wait for another program's event only after a message has told it that it was
 * recorded. A caller that waited for the message continues when it has come; one that did not has
 * received it since, unless the program told us of that (vgpu_time_hear). */
static void hear_of_recording(struct connection *c, const struct event *e)
{
    const struct op *recorded = e->shared->recorded;
    struct vgpu_request *q = &c->request.q;
    if (recorded->process == c->process || !is_unheard_recording(&c->heard, e))
        return;
    uint64_t told_ps = recorded->issue_ps + machine->info.message_ps;
    uint64_t receive_ps = q->flags & VGPU_WAIT_TOLD ? 0 : machine->cost.receive_ps;
    uint64_t received_ps = q->clock_ps + receive_ps;
    q->clock_ps = told_ps > received_ps ? told_ps : received_ps;
}

/* What a message about the recording takes its sender. Other programs can use a recording only
 * after such a message, so one is sent for each of an event whose handle the program has asked for.
 * (Whether another program has opened it by now may differ from run to run.) */
static uint64_t send_cost(const struct connection *c, const struct event *e)
{
    bool told = ipc_event_is_exported(e) && c->request.q.graph == VGPU_GRAPH_NONE;
    return told ? machine->cost.send_ps : 0;
}

/* What the call costs the host; `far`: the event was recorded on another GPU. */
static uint64_t wait_cost(const struct event *e, bool far)
{
    const struct costs *cost = &machine->cost;
    if (e->flags & EVENT_INTERPROCESS && cost->wait_shared_ps > 0)
        return cost->wait_shared_ps;
    return far ? cost->wait_gpu_ps : cost->wait_ps;
}

void request_stream_wait(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    struct event *e = find_live_event(c, q->event);
    struct stream *s = e ? request_stream(c) : NULL;
    if (!s)
        return;
    if (q->flags & ~(uint32_t)VGPU_WAIT_TOLD) {
        request_fail(c, VGPU_INVALID_VALUE, "cudaStreamWaitEvent flags %#x: use 0", q->flags);
        return;
    }
    if (!e->shared->recorded) {
        /* No wait, as on hardware. */
        misuse_wait_unrecorded(e, &c->request.q);
        return;
    }
    hear_of_recording(c, e);
    bool far = s->device != e->shared->recorded->device;
    request_cost(c, wait_cost(e, far));
    struct op *mark = op_new(c->process, s->device, OP_MARK);
    if (q->graph & VGPU_GRAPH_EDGE && far)
        c->reply.r.clock_ps += machine->cost.graph_wait_ps;
    mark->issue_ps = q->graph ? c->reply.r.clock_ps : q->clock_ps;
    mark->graph = q->graph & VGPU_GRAPH_PLACE;
    op_after(mark, e->shared->recorded);
    stream_push(s, mark);
    op_drop(mark);
}

void request_stream_info(struct connection *c)
{
    struct stream *s = request_stream(c);
    request_cost(c, machine->cost.local_ps);
    if (!s)
        return;
    c->reply.r.value = s->flags;
    c->reply.r.value2 = (uint64_t)(int64_t)s->priority;
    c->reply.r.value3 = (uint64_t)s->device;
}

void request_event_create(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    uint32_t known = EVENT_BLOCKING_SYNC | EVENT_DISABLE_TIMING | EVENT_INTERPROCESS;
    if (!request_device(c, q->device))
        return;
    if ((q->flags & ~known) ||
        ((q->flags & EVENT_INTERPROCESS) && !(q->flags & EVENT_DISABLE_TIMING))) {
        request_fail(c, VGPU_INVALID_VALUE,
                     "event flags %#x: cudaEventInterprocess needs cudaEventDisableTiming",
                     q->flags);
        return;
    }
    struct event *e = inject_no_event() ? NULL : event_new(c->process, q->device, q->flags);
    if (!e) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "no memory for an event");
        return;
    }
    e->made_at = q->caller;
    c->reply.r.value = e->id;
    node_counts.events++;
}

void request_event_destroy(struct connection *c)
{
    struct event *e = find_event(c, c->request.q.event);
    if (!e)
        return;
    misuse_event_ends(e);
    event_free(e);
}

static uint64_t record_cost(const struct event *e)
{
    const struct costs *cost = &machine->cost;
    if (e->flags & EVENT_INTERPROCESS)
        return cost->record_shared_ps;
    return e->flags & EVENT_DISABLE_TIMING ? cost->record_untimed_ps : cost->record_ps;
}

void request_event_record(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    struct event *e = find_live_event(c, q->event);
    struct stream *s = e ? request_stream(c) : NULL;
    if (!s)
        return;
    if (q->flags & ~1u) {
        request_fail(c, VGPU_INVALID_VALUE, "cudaEventRecordWithFlags flags %#x: use 0 or 1",
                     q->flags);
        return;
    }
    if (e->device != s->device &&
        q->graph == VGPU_GRAPH_NONE) { /* a graph node may do this (recorded) */
        misuse_mismatch(c->process, &c->request.q, "an event", e->device, s->device);
        request_fail(c, VGPU_INVALID_HANDLE,
                     "the event belongs to GPU %d and the stream to GPU %d: create the event while "
                     "the stream's GPU is current",
                     e->device, s->device);
        return;
    }
    request_cost(c, record_cost(e));
    struct op *mark = op_new(c->process, s->device, OP_MARK), *before = e->shared->recorded;
    mark->issue_ps = c->reply.r.clock_ps;
    mark->timed = !(e->flags & EVENT_DISABLE_TIMING) && q->graph == VGPU_GRAPH_NONE;
    stream_push(s, mark);
    e->shared->recorded = mark;
    e->shared->recordings++;
    op_drop(before);
    c->reply.r.clock_ps += send_cost(c, e);
}

void request_event_sync(struct connection *c)
{
    struct event *e = find_live_event(c, c->request.q.event);
    node_counts.syncs++;
    if (e && e->shared->recorded)
        request_wait(c, op_keep(e->shared->recorded));
    else if (e)
        misuse_wait_unrecorded(e, &c->request.q);
}

void request_event_query(struct connection *c)
{
    struct event *e = find_live_event(c, c->request.q.event);
    if (e && c->request.q.flags & 1)
        c->reply.r.value = e->shared->recorded != NULL;
    else if (e && e->shared->recorded)
        c->reply.r.error = query_op(c, e->shared->recorded);
}

void request_event_elapsed(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    struct event *a = find_event(c, q->event), *b = a ? find_event(c, q->event2) : NULL;
    if (!b)
        return;
    if (((a->flags | b->flags) & EVENT_DISABLE_TIMING) || !a->shared->recorded ||
        !b->shared->recorded || a->device != b->device) {
        request_fail(c, VGPU_INVALID_HANDLE,
                     "both events must be recorded, on one GPU, and made without "
                     "cudaEventDisableTiming");
        return;
    }
    if (query_op(c, a->shared->recorded) == VGPU_NOT_READY ||
        query_op(c, b->shared->recorded) == VGPU_NOT_READY) {
        c->reply.r.error = VGPU_NOT_READY;
        return;
    }
    c->reply.r.error = c->process->sticky;
    c->process->times_read = true;
    c->reply.r.value = b->shared->recorded->end_ps - a->shared->recorded->end_ps;
    trace_elapsed(server_state.trace, c->process, a->device, a->shared->recorded->end_ps,
                  b->shared->recorded->end_ps);
}
