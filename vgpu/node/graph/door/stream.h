/* SPDX-License-Identifier: MIT
 * stream.h: streams and events: who comes after whom.
 *
 * A stream is its last operation; an event is the mark it was last recorded as. The legacy stream
 * of a device comes after all its blocking streams, and they after it.
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
    uint32_t component; /* of its operations' clocks; 0: not yet */
};

struct stream {
    uint64_t id;
    struct process *process;
    int device;
    uint32_t flags;
    int priority;
    const void *thread; /* per-thread default stream: whose; else NULL */
    uint64_t made_at;   /* return address of the call */
    uint32_t number; /* among all that the process made, from 1 on; 0: a device's legacy stream */
    struct stream_check check;
    struct op *last;
    struct stream *next;
};

/* What the events of several processes that mean the same have in common. */
struct shared_event {
    struct op *recorded;   /* NULL: never */
    struct process *maker; /* NULL: has destroyed it, or ended */
    bool lost;             /* the process that made it has ended: it will never be recorded */
    struct ipc_key key;    /* of its handle, once one was asked for */
    int refs;
    struct shared_event *next;
};

struct event_check { /* misuse.c: waited for, unrecorded; by which call, where */
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

/* The stream that `id` means on `device` for the host thread `thread` (any pointer that names it),
 * or NULL. */
struct stream *stream_find(struct process *process, uint64_t id, int device, const void *thread);
void stream_free(struct stream *stream);
void stream_free_all(struct process *process, int device);

struct event *event_new(struct process *process, int device, uint32_t flags);
struct event *event_find(struct process *process, uint64_t id);
void event_free(struct event *event);

/* An event of `process` that is another one's as well. NULL: out of memory. */
struct event *event_share(struct process *process, struct shared_event *shared, int device);
struct shared_event *event_shared_first(void);
void event_free_all(struct process *process, int device); /* device -1: all */

/* Puts `op` at the end of `stream` and submits it. */
void stream_push(struct stream *stream, struct op *op);

/* As stream_push on a legacy stream, but ordered with those of all `devices` (a bit each, one at
 * least): copies between GPUs. */
void stream_push_all(struct process *process, uint32_t devices, struct op *op);

bool stream_is_legacy(const struct stream *s);

/* A mark after everything in `stream` (on the legacy stream: in all blocking ones too), without
 * being part of the stream; the caller drops it. Times as of `issue_ps`. */
struct op *stream_mark(struct stream *stream, uint64_t issue_ps);
struct op *device_mark(struct process *process, int device, uint64_t issue_ps);

struct op *process_mark(struct process *process, uint64_t issue_ps); /* all devices */

int stream_count(const struct process *process); /* created by the program */
int event_count(const struct process *process);

#endif
