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

static bool value_at(const struct op *op, uint64_t address, uint64_t *value)
{
    const uint8_t *view = process_view(op->process, address, 4);
    *value = 0;
    if (view)
        memcpy(value, view, 4);
    return view;
}

static bool is_host(uint64_t address)
{
    return address >= VGPU_HOST_VA && address < VGPU_HOST_END;
}

static bool has_changed(const struct op *op)
{
    const struct host_polls *p = op->polls;
    uint64_t value;
    for (int i = 0; i < p->count; i++)
        if (value_at(op, p->address[i], &value) && value != p->value[i])
            return true;
    return false;
}

static void stop_watching(const struct op *op)
{
    for (int i = 0; i < watched_count; i++)
        if (watched[i] == op) {
            watched[i] = watched[--watched_count];
            return;
        }
}

void host_store_watch(struct op *op, const struct vgpu_signals *signals)
{
    if (!op->polls)
        op->polls = calloc(1, sizeof *op->polls);
    if (!op->polls)
        return;
    struct host_polls *p = op->polls;
    p->count = 0;
    for (uint32_t i = 0; i < signals->polled_count && p->count < HOST_POLLS; i++)
        if (is_host(signals->polled[i]) && value_at(op, signals->polled[i], &p->value[p->count]))
            p->address[p->count++] = signals->polled[i];
    stop_watching(op);
    if (p->count && watched_count < WATCHED)
        watched[watched_count++] = op;
}

/* Something was stored by a thread whose clock this is, or by another one that may call as well. */
static void stored(struct op *op, uint64_t clock_ps, int threads)
{
    if (clock_ps > op->polls->stored_ps)
        op->polls->stored_ps = clock_ps;
    if (threads > 1)
        overtaken_store(op);
    stop_watching(op);
}

/* The threads of `process` that may have stored since they were answered: how many, and the latest
 * of their clocks. `caller` is one of them. */
static int candidates(const struct process *process, const struct connection *caller,
                      uint64_t *clock_ps)
{
    const struct connection *c;
    int count = (int)(uint32_t)process->unheard;
    *clock_ps = 0;
    for (int i = 0; (c = server_connection(i)); i++) {
        bool may = c->works && !c->wait && !c->takes && !c->asks && c != caller;
        if (c->process != process || !may)
            continue;
        count++;
        *clock_ps = c->clock_ps > *clock_ps ? c->clock_ps : *clock_ps;
    }
    return count;
}

void host_store_called(const struct connection *connection)
{
    uint64_t others_ps;
    for (int i = watched_count - 1; i >= 0; i--) {
        struct op *op = watched[i];
        if (op->process == connection->process && has_changed(op))
            stored(op, connection->request.q.clock_ps,
                   1 + candidates(op->process, connection, &others_ps));
    }
}

void host_store_before(struct op *op)
{
    uint64_t clock_ps;
    if (!op->polls || op->polls->count == 0 || !has_changed(op))
        return;
    for (int i = 0; i < watched_count; i++)
        if (watched[i] == op) {
            int threads = candidates(op->process, NULL, &clock_ps);
            stored(op, clock_ps, threads);
            return;
        }
}

bool host_store_waited(const struct op *op)
{
    for (int i = 0; i < watched_count; i++)
        if (watched[i] == op)
            return true;
    return false;
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
