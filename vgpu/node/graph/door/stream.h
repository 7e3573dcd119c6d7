/* SPDX-License-Identifier: MIT
 * stream.h: streams and events, which create the dependencies between operations.
 *
 * A stream is represented by its last operation, an event by the mark of its last recording. Work
 * on a device's legacy stream depends on all its blocking streams, and their later work depends on
 * it.
 */
#ifndef VGPU_STREAM_H
#define VGPU_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc_key.h"
#include "op.h"

struct process;

#define STREAM_NON_BLOCKING 1u
#define EVENT_BLOCKING_SYNC 1u
#define EVENT_DISABLE_TIMING 2u
#define EVENT_INTERPROCESS 4u

struct stream_check {   /* checks.c */
    uint32_t component; /* component of its operations' vector clocks; 0: none yet */
};

struct stream {
    uint64_t id;
    struct process *process;
    int device;
    uint32_t flags;
    int priority;
    const void *thread; /* per-thread default stream: identifies the thread; else NULL */
    uint64_t made_at;   /* return address of the call */
    /* Number among all streams of the process, from 1 on; 0: a device's legacy stream. */
    uint32_t number;
    struct stream_check check;
    struct op *last;
    struct stream *next;
};

/* The state that events of several processes share. */
struct shared_event {
    struct op *recorded;   /* NULL: never recorded */
    uint64_t recordings;   /* how often */
    struct process *maker; /* NULL: the event was destroyed there, or the process has ended */
    bool lost;             /* its process has ended, so it will never be recorded */
    struct ipc_key key;    /* key of its handle, if it was exported */
    int refs;
    struct shared_event *next;
};

/* misuse.c: a wait for the unrecorded event, its call and return address. */
struct event_check {
    bool waited;
    uint64_t waited_at;
    char waiter[32];
};

struct event {
    uint64_t id;
    struct process *process;
    int device;
    uint32_t flags;
    struct shared_event *shared;
    uint64_t made_at; /* return address of the call */
    struct event_check check;
    struct event *next;
};

struct stream *stream_new(struct process *process, int device, uint32_t flags, int priority);

/* The stream that `id` means on `device` for the host thread identified by `thread` (any pointer
 * unique to it); NULL: none. */
struct stream *stream_find(struct process *process, uint64_t id, int device, const void *thread);
void stream_free(struct stream *stream);
void stream_free_all(struct process *process, int device);

struct event *event_new(struct process *process, int device, uint32_t flags);
struct event *event_find(struct process *process, uint64_t id);
void event_free(struct event *event);

/* Makes an event of `process` that shares another event's state. NULL: host memory ran out. */
struct event *event_share(struct process *process, struct shared_event *shared, int device);
struct shared_event *event_shared_first(void);
void event_free_all(struct process *process, int device); /* device -1: all */

/* Appends `op` to `stream` and submits it. */
void stream_push(struct stream *stream, struct op *op);

/* The same for a legacy stream; `op` is also ordered with those of all `devices` (bits; at least
 * one), for copies between GPUs. */
void stream_push_all(struct process *process, uint32_t devices, struct op *op);

/* Make a mark that depends on everything in `stream` (for the legacy stream, also in all blocking
 * ones), on the device, or on all devices. It is not part of a stream, and the caller owns the
 * reference. Issue time is `issue_ps`. */
struct op *stream_mark(struct stream *stream, uint64_t issue_ps);
struct op *device_mark(struct process *process, int device, uint64_t issue_ps);

struct op *process_mark(struct process *process, uint64_t issue_ps);

int stream_count(const struct process *process); /* streams created by the program */
int event_count(const struct process *process);

#endif
