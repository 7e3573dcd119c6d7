/* SPDX-License-Identifier: MIT
 * stream.c: see stream.h.
 */
#include "stream.h"

#include <stdlib.h>

#include "observer.h"
#include "process.h"

/* Above CUDA's own handles, so that small forged numbers are never valid. */
#define FIRST_ID 0x1000

static uint64_t next_id = FIRST_ID;

struct stream *stream_new(struct process *process, int device, uint32_t flags, int priority)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct stream){.id = next_id++,
                         .process = process,
                         .device = device,
                         .flags = flags,
                         .priority = priority,
                         .number = ++process->stream_numbers,
                         .next = process->device[device].streams};
    process->device[device].streams = s;
    return s;
}

static struct stream *per_thread_stream(struct process *process, int device, const void *thread)
{
    for (struct stream *s = process->device[device].streams; s; s = s->next)
        if (s->thread == thread)
            return s;
    struct stream *s = stream_new(process, device, 0, 0);
    if (s)
        s->thread = thread;
    return s;
}

struct stream *stream_find(struct process *process, uint64_t id, int device, const void *thread)
{
    if (id == VGPU_STREAM_LEGACY)
        return &process->device[device].legacy;
    if (id == VGPU_STREAM_PER_THREAD)
        return per_thread_stream(process, device, thread);
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        for (struct stream *s = process->device[d].streams; s; s = s->next)
            if (s->id == id && !s->thread)
                return s;
    return NULL;
}

static void remove_stream(struct stream *stream)
{
    struct stream **at = &stream->process->device[stream->device].streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    op_drop(stream->last);
    tell_stream_ends(stream);
    free(stream);
}

/* Keeps the pending work of a destroyed stream, so that a wait for its device waits for it. */
static void keep_pending_work(struct stream *stream)
{
    bool apart = stream->flags & STREAM_NON_BLOCKING;
    struct op **gone = &stream->process->device[stream->device].gone[apart], *before = *gone;
    if (!before || (before->finished && before->carried)) {
        *gone = op_keep(stream->last);
    } else {
        *gone = op_new(stream->process, stream->device, OP_MARK);
        (*gone)->issue_ps = stream->last->issue_ps;
        op_after(*gone, before);
        op_after(*gone, stream->last);
        op_submit(*gone);
    }
    op_drop(before);
}

void stream_free(struct stream *stream)
{
    if (stream->last && !(stream->last->finished && stream->last->carried))
        keep_pending_work(stream);
    remove_stream(stream);
}

void stream_free_all(struct process *process, int device)
{
    struct device_state *d = &process->device[device];
    while (d->streams)
        remove_stream(d->streams);
    op_drop(d->legacy.last);
    tell_stream_ends(&d->legacy);
    d->legacy.last = NULL;
    for (int i = 0; i < 2; i++) {
        op_drop(d->gone[i]);
        d->gone[i] = NULL;
    }
}

static struct shared_event *shared_events;

struct shared_event *event_shared_first(void)
{
    return shared_events;
}

static struct event *new_event(struct process *process, int device, uint32_t flags,
                               struct shared_event *shared)
{
    struct event *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    *e = (struct event){.id = next_id++,
                        .process = process,
                        .device = device,
                        .flags = flags,
                        .shared = shared,
                        .next = process->events};
    process->events = e;
    shared->refs++;
    return e;
}

struct event *event_share(struct process *process, struct shared_event *shared, int device)
{
    return new_event(process, device, EVENT_INTERPROCESS | EVENT_DISABLE_TIMING, shared);
}

struct event *event_new(struct process *process, int device, uint32_t flags)
{
    struct shared_event *shared = calloc(1, sizeof *shared);
    struct event *e = shared ? new_event(process, device, flags, shared) : NULL;
    if (!e) {
        free(shared);
        return NULL;
    }
    shared->maker = process;
    shared->next = shared_events;
    shared_events = shared;
    return e;
}

struct event *event_find(struct process *process, uint64_t id)
{
    struct event *e = process->events;
    while (e && e->id != id)
        e = e->next;
    return e;
}

static void drop_shared(struct shared_event *shared)
{
    if (--shared->refs > 0)
        return;
    struct shared_event **at = &shared_events;
    while (*at != shared)
        at = &(*at)->next;
    *at = shared->next;
    op_drop(shared->recorded);
    free(shared);
}

void event_free(struct event *event)
{
    struct event **at = &event->process->events;
    while (*at != event)
        at = &(*at)->next;
    *at = event->next;
    if (event->shared->maker == event->process) {
        event->shared->lost = event->process->dead;
        event->shared->maker = NULL;
    }
    drop_shared(event->shared);
    free(event);
}

void event_free_all(struct process *process, int device)
{
    for (struct event *e = process->events, *next; e; e = next) {
        next = e->next;
        if (device < 0 || e->device == device)
            event_free(e);
    }
}

static void after_blocking_streams(struct op *op, const struct device_state *d)
{
    op_after(op, d->gone[0]);
    for (struct stream *s = d->streams; s; s = s->next)
        if (!(s->flags & STREAM_NON_BLOCKING))
            op_after(op, s->last);
}

/* Makes `op` depend on everything before the next operation of `stream`. */
static void after_stream(struct op *op, const struct stream *stream)
{
    const struct device_state *d = &stream->process->device[stream->device];
    op_after(op, stream->last);
    if (stream == &d->legacy)
        after_blocking_streams(op, d);
    else if (!(stream->flags & STREAM_NON_BLOCKING))
        op_after(op, d->legacy.last);
}

static void set_last(struct stream *stream, struct op *op)
{
    struct op *before = stream->last;
    stream->last = op_keep(op);
    op_drop(before);
}

static void issue_in_stream(struct stream *stream, struct op *op)
{
    op->on_stream = stream->number;
    tell_ordered(op, stream);
    op_submit(op);
}

void stream_push(struct stream *stream, struct op *op)
{
    op->stream = stream->id;
    tell_issued(op);
    after_stream(op, stream);
    set_last(stream, op);
    issue_in_stream(stream, op);
}

void stream_push_all(struct process *process, uint32_t devices, struct op *op)
{
    op->stream = VGPU_STREAM_LEGACY;
    tell_issued(op);
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        if (devices >> d & 1) {
            after_stream(op, &process->device[d].legacy);
            set_last(&process->device[d].legacy, op);
        }
    issue_in_stream(&process->device[__builtin_ctz(devices)].legacy, op);
}

static void submit_mark(struct op *mark)
{
    tell_ordered(mark, NULL);
    op_submit(mark);
}

struct op *stream_mark(struct stream *stream, uint64_t issue_ps)
{
    struct op *mark = op_new(stream->process, stream->device, OP_MARK);
    mark->issue_ps = issue_ps;
    mark->for_host = true;
    after_stream(mark, stream);
    submit_mark(mark);
    return mark;
}

static void after_device(struct op *op, const struct device_state *d)
{
    op_after(op, d->legacy.last);
    op_after(op, d->gone[0]);
    op_after(op, d->gone[1]);
    for (struct stream *s = d->streams; s; s = s->next)
        op_after(op, s->last);
}

struct op *device_mark(struct process *process, int device, uint64_t issue_ps)
{
    struct op *mark = op_new(process, device, OP_MARK);
    mark->issue_ps = issue_ps;
    mark->for_host = true;
    after_device(mark, &process->device[device]);
    submit_mark(mark);
    return mark;
}

struct op *process_mark(struct process *process, uint64_t issue_ps)
{
    struct op *mark = op_new(process, 0, OP_MARK);
    mark->issue_ps = issue_ps;
    mark->for_host = true;
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        after_device(mark, &process->device[d]);
    submit_mark(mark);
    return mark;
}

int stream_count(const struct process *process)
{
    int count = 0;
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        for (struct stream *s = process->device[d].streams; s; s = s->next)
            count += s->thread == NULL;
    return count;
}

int event_count(const struct process *process)
{
    int count = 0;
    for (struct event *e = process->events; e; e = e->next)
        count++;
    return count;
}
