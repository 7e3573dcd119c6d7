/* SPDX-License-Identifier: MIT
 * host_store.c: see host_store.h.
 */
#include "host_store.h"

#include <stdlib.h>
#include <string.h>

#include "overtaken.h"

#define WATCHED 64 /* kernels that poll at the same time, of all programs */

static struct op *watched[WATCHED]; /* each goes from here when it is freed */
static int watched_count;

static bool is_host(uint64_t address)
{
    return address >= VGPU_HOST_VA && address < VGPU_HOST_END;
}

/* What is in memory at place `i`, as the kernel would read it. False: nothing is there. */
static bool value_now(const struct op *op, int i, uint64_t *value)
{
    const struct host_polls *p = op->polls;
    const uint8_t *view = process_view(op->process, p->address[i], p->bytes[i]);
    *value = 0;
    if (view)
        memcpy(value, view, p->bytes[i]);
    return view;
}

static bool has_changed(const struct op *op, int i)
{
    uint64_t value;
    return value_now(op, i, &value) && value != op->polls->value[i];
}

static bool any_changed(const struct op *op)
{
    for (int i = 0; i < op->polls->count; i++)
        if (has_changed(op, i))
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
    for (int i = op->polls->count - 1; i >= 0; i--)
        if (has_changed(op, i))
            forget_place(op->polls, i);
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
    return place_in_watched(op) < watched_count;
}

static void stop_watching(const struct op *op)
{
    int i = place_in_watched(op);
    if (i < watched_count)
        watched[i] = watched[--watched_count];
}

/* A thread that still stands where it polled before does not say so again: its place stays. */
static void watch(struct op *op, const struct vgpu_signals *signals)
{
    if (!op->polls)
        op->polls = calloc(1, sizeof *op->polls);
    if (!op->polls)
        return;
    for (uint32_t i = 0; i < signals->polled_count; i++)
        if (is_host(signals->polled[i]))
            note_place(op->polls, signals->polled[i], signals->value[i], signals->bytes[i]);
    if (op->polls->count && !is_watched(op) && watched_count < WATCHED)
        watched[watched_count++] = op;
}

/* Something was stored by a thread whose clock this is, or by another one that may call as well. */
static void stored(struct op *op, uint64_t clock_ps, int threads)
{
    if (clock_ps > op->polls->stored_ps)
        op->polls->stored_ps = clock_ps;
    if (threads > 1)
        overtaken_store(op);
    forget_changed(op);
    if (op->polls->count == 0)
        stop_watching(op);
}

/* The threads of `process` that may have stored since they were answered: how many, and the latest
 * of their clocks. `caller` is one of them. */
static int candidates(const struct process *process, const struct connection *caller,
                      uint64_t *clock_ps)
{
    const struct connection *c;
    int count = (int)(uint32_t)process->unheard;
    *clock_ps = count ? process->unheard_ps : 0;
    for (int i = 0; (c = server_connection(i)); i++) {
        bool may = c->works && !c->wait && !c->takes && !c->asks && c != caller;
        if (c->process != process || !may)
            continue;
        count++;
        *clock_ps = c->clock_ps > *clock_ps ? c->clock_ps : *clock_ps;
    }
    return count;
}

static void stored_by(const struct connection *connection, uint64_t clock_ps)
{
    uint64_t others_ps;
    for (int i = watched_count - 1; i >= 0; i--) {
        struct op *op = watched[i];
        if (op->process == connection->process && any_changed(op))
            stored(op, clock_ps, 1 + candidates(op->process, connection, &others_ps));
    }
}

void host_store_called(const struct connection *connection)
{
    stored_by(connection, connection->request.q.clock_ps);
}

void host_store_left(const struct connection *connection)
{
    if (connection->process && connection->works)
        stored_by(connection, connection->clock_ps);
}

void host_store_before(struct op *op)
{
    uint64_t clock_ps;
    if (!is_watched(op) || !any_changed(op))
        return;
    int threads = candidates(op->process, NULL, &clock_ps);
    stored(op, clock_ps, threads);
}

/* Kernels tell each other something through pinned memory, too: that is no host's store. */
static void device_stored(const struct process *process, const struct vgpu_signals *signals)
{
    for (int w = 0; w < watched_count; w++) {
        struct op *op = watched[w];
        for (uint32_t i = 0; i < signals->stored_count && op->process == process; i++)
            for (int k = 0; k < op->polls->count; k++)
                if (op->polls->address[k] == signals->stored[i])
                    value_now(op, k, &op->polls->value[k]);
    }
}

void host_store_ran(struct op *op, const struct vgpu_signals *signals, bool stopped)
{
    device_stored(op->process, signals);
    host_store_before(op); /* the kernel has seen what came after we looked */
    if (stopped)
        watch(op, signals);
    else
        stop_watching(op);
}

bool host_store_waited(const struct op *op)
{
    return is_watched(op);
}

uint64_t host_store_time(const struct op *op, uint64_t now_ps)
{
    return op->polls && op->polls->stored_ps > now_ps ? op->polls->stored_ps : now_ps;
}

void host_store_free(struct op *op)
{
    if (op->polls)
        stop_watching(op);
    free(op->polls);
    op->polls = NULL;
}
