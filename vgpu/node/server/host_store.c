/* SPDX-License-Identifier: MIT
 * host_store.c: see host_store.h.
 */
#include "host_store.h"

#include <stdlib.h>
#include <string.h>

#include "late_issue.h"
#include "observer.h"
#include "owner.h"
#include "protocol_exec.h"

#define WATCHED 64 /* kernels that poll at a time, of all programs */

static struct op *watched[WATCHED]; /* an entry is removed when the operation is freed */
static int watched_count;

static bool is_host(uint64_t address)
{
    return address >= VGPU_HOST_VA && address < VGPU_HOST_END;
}

/* Reads the current value at place `i` with the size that the kernel polls. False: no memory is
 * mapped there. */
static bool value_now(const struct op *op, int i, uint64_t *value)
{
    const struct host_polls *p = op->stores.polls;
    const uint8_t *view = owner_view(&op->process->memory, p->address[i], p->bytes[i]);
    *value = 0;
    if (view)
        memcpy(value, view, p->bytes[i]);
    return view;
}

static bool has_store_changed(const struct op *op, int i)
{
    uint64_t value;
    return value_now(op, i, &value) && value != op->stores.polls->value[i];
}

static bool any_changed(const struct op *op)
{
    for (int i = 0; i < op->stores.polls->count; i++)
        if (has_store_changed(op, i))
            return true;
    return false;
}

static void forget_place(struct host_polls *p, int i)
{
    int last = --p->count;
    p->address[i] = p->address[last];
    p->value[i] = p->value[last];
    p->bytes[i] = p->bytes[last];
}

static void forget_changed(struct op *op)
{
    for (int i = op->stores.polls->count - 1; i >= 0; i--)
        if (has_store_changed(op, i))
            forget_place(op->stores.polls, i);
}

static void note_place(struct host_polls *p, uint64_t address, uint64_t value, uint8_t bytes)
{
    int i = 0;
    while (i < p->count && p->address[i] != address)
        i++;
    if (i == HOST_POLLS)
        return;
    if (i == p->count)
        p->count++;
    p->address[i] = address;
    p->value[i] = value;
    p->bytes[i] = bytes;
}

static int place_in_watched(const struct op *op)
{
    int i = 0;
    while (i < watched_count && watched[i] != op)
        i++;
    return i;
}

static bool is_watched(const struct op *op)
{
    return op->stores.watched;
}

static void stop_watching(struct op *op)
{
    int i = place_in_watched(op);
    if (i < watched_count)
        watched[i] = watched[--watched_count];
    op->stores.watched = false;
}

/* Adds the places that the kernel polls. A thread that is still polling does not report its place
 * again, so earlier places are kept. */
static void watch_kernel(struct op *op, const struct vgpu_signals *signals)
{
    if (!op->stores.polls)
        op->stores.polls = calloc(1, sizeof *op->stores.polls);
    if (!op->stores.polls)
        return;
    for (uint32_t i = 0; i < signals->polled_count; i++)
        if (is_host(signals->polled[i]))
            note_place(op->stores.polls, signals->polled[i], signals->value[i], signals->bytes[i]);
    if (op->stores.polls->count && !is_watched(op) && watched_count < WATCHED) {
        watched[watched_count++] = op;
        op->stores.watched = true;
    }
}

/* Records a store: `clock_ps` is the clock of the thread that may have made it, `threads` the
 * number of such threads. */
static void record_store(struct op *op, uint64_t clock_ps, int threads)
{
    if (clock_ps > op->stores.stored_ps)
        op->stores.stored_ps = clock_ps;
    if (threads > 1)
        late_issue_store(op);
    forget_changed(op);
    if (op->stores.polls->count == 0)
        stop_watching(op);
}

/* Counts the threads of `process` that may have stored since their last reply, and stores the
 * latest of their clocks. `caller` is one of them. */
static int count_candidates(const struct process *process, const struct connection *caller,
                            uint64_t *clock_ps)
{
    const struct connection *c;
    int count = (int)(uint32_t)process->server.unregistered;
    *clock_ps = count ? process->server.unregistered_ps : 0;
    for (int i = 0; (c = connection_at(i)); i++) {
        bool may = c->works && !c->wait.op && !c->takes && !c->time.asks && c != caller;
        if (c->process != process || !may)
            continue;
        count++;
        *clock_ps = c->time.clock_ps > *clock_ps ? c->time.clock_ps : *clock_ps;
    }
    return count;
}

static void record_stores_of(const struct connection *connection, uint64_t clock_ps)
{
    uint64_t others_ps;
    for (int i = watched_count - 1; i >= 0; i--) {
        struct op *op = watched[i];
        if (op->process == connection->process && any_changed(op))
            record_store(op, clock_ps, 1 + count_candidates(op->process, connection, &others_ps));
    }
}

void host_store_called(const struct connection *connection)
{
    record_stores_of(connection, connection->request.q.clock_ps);
}

void host_store_left(const struct connection *connection)
{
    if (connection->process && connection->works)
        record_stores_of(connection, connection->time.clock_ps);
}

/* Called before and after kernel `op` polls again. */
static void look_for_stores(struct op *op)
{
    uint64_t clock_ps;
    if (!is_watched(op) || !any_changed(op))
        return;
    int threads = count_candidates(op->process, NULL, &clock_ps);
    record_store(op, clock_ps, threads);
}

/* Updates the polled values after stores by kernels, which must not be taken for stores by the
 * host. */
static void device_stored(const struct process *process, const struct vgpu_signals *signals)
{
    for (int w = 0; w < watched_count; w++) {
        struct op *op = watched[w];
        for (uint32_t i = 0; i < signals->stored_count && op->process == process; i++)
            for (int k = 0; k < op->stores.polls->count; k++)
                if (op->stores.polls->address[k] == signals->stored[i])
                    value_now(op, k, &op->stores.polls->value[k]);
    }
}

static void kernel_ran(void *self, struct op *op, const struct kernel_report *report)
{
    const struct vgpu_signals *signals = &report->reply->signals;
    (void)self;
    device_stored(op->process, signals);
    look_for_stores(op); /* values that the kernel has read after the last comparison */
    if (report->reply->status == VGPU_STALLED)
        watch_kernel(op, signals);
    else
        stop_watching(op);
}

static void kernel_resumes(void *self, struct op *op)
{
    (void)self;
    look_for_stores(op);
}

static void op_is_freed(void *self, struct op *op)
{
    (void)self;
    if (op->stores.polls)
        stop_watching(op);
    free(op->stores.polls);
    op->stores.polls = NULL;
}

void host_store_observe(void)
{
    static const struct op_observer observer = {
        .ran = kernel_ran, .resumes = kernel_resumes, .freed = op_is_freed};
    op_observe(&observer);
}
