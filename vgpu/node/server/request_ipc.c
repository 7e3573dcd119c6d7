/* SPDX-License-Identifier: MIT
 * request_ipc.c: requests about memory and events of other processes. Error codes are recorded
 * ([ipc_same], [ipc_0], [ipc_1]).
 */
#include "ipc.h"

#include <string.h>

#include "counts.h"
#include "misuse.h"
#include "ipc_event.h"
#include "order.h"
#include "process.h"
#include "reply.h"
#include "request.h"

static void answer_handle(struct connection *c, bool made)
{
    if (made)
        c->reply.r.data_bytes = IPC_HANDLE_BYTES;
    else
        request_fail(c, VGPU_OUT_OF_MEMORY, "the node is out of memory");
}

void request_ipc_export(struct connection *c)
{
    uint64_t at = c->request.q.ptr;
    struct pointee p;
    if (c->process->sticky) {
        c->reply.r.error = c->process->sticky;
        return;
    }
    if (!memory_find(at, &p) || p.owner != &c->process->memory || p.mapping || p.pool || p.dying ||
        p.variables) {
        request_fail(
            c, VGPU_INVALID_VALUE,
            "%#llx is not in memory that this process has from cudaMalloc: host, managed, "
            "pool and VMM memory, __device__ variables, and what another process exported, "
            "have no handle",
            (unsigned long long)at);
        return;
    }
    answer_handle(c, ipc_export(&p, c->reply.r.data));
}

static void explain_open(struct connection *c, int error)
{
    if (error == VGPU_DEVICE_UNINITIALIZED)
        request_fail(
            c, error,
            "this process exported the memory itself: a handle is for other processes, use "
            "the pointer here");
    else if (error == VGPU_PEER_UNSUPPORTED)
        request_fail(c, error,
                     "GPU %d cannot reach the GPU that the memory is on: make another GPU current "
                     "(cudaDeviceCanAccessPeer tells which)",
                     c->request.q.device);
    else if (error == VGPU_OUT_OF_MEMORY)
        request_fail(c, error, "no addresses are left for the memory");
    else
        request_fail(c, error,
                     "the handle names no memory: not all of its 64 bytes arrived, or the exporter "
                     "has freed the memory or ended");
}

void request_ipc_open(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    if (!request_device(c, q->device))
        return;
    if (q->data_bytes != IPC_HANDLE_BYTES) {
        request_fail(c, VGPU_INVALID_VALUE, "a handle has 64 bytes, not %u", q->data_bytes);
        return;
    }
    int error = ipc_open(&c->process->memory, q->data, q->device, &c->reply.r.value);
    if (error)
        explain_open(c, error);
    else
        node_counts.ipc_opened++;
}

/* Pending work may use the memory, so the call waits for it, as cudaFree does. */
bool request_ipc_close_check(struct connection *c)
{
    uint64_t at = c->request.q.ptr;
    struct pointee p;
    if (c->process->sticky) {
        c->reply.r.error = c->process->sticky;
        return false;
    }
    if (memory_find(at, &p) && p.owner == &c->process->memory && p.base == at && p.mapping &&
        !p.dying && request_same(c, p.serial))
        return true;
    request_fail(c, VGPU_INVALID_VALUE,
                 "%#llx is not an address that cudaIpcOpenMemHandle returned: closed as often as "
                 "opened already?",
                 (unsigned long long)at);
    return false;
}

void request_ipc_close_begin(struct connection *c)
{
    request_wait(c, process_mark(c->process, c->request.q.clock_ps));
}

void request_ipc_close_end(struct connection *c)
{
    if (!ipc_close(&c->process->memory, c->request.q.ptr))
        request_fail(c, VGPU_INVALID_VALUE, "%#llx is mapped by VMM: call cuMemUnmap",
                     (unsigned long long)c->request.q.ptr);
}

void request_ipc_event(struct connection *c)
{
    struct event *e = event_find(c->process, c->request.q.event);
    if (c->process->sticky)
        c->reply.r.error = c->process->sticky;
    else if (!e || !(e->flags & EVENT_INTERPROCESS))
        request_fail(c, VGPU_INVALID_HANDLE, "%s",
                     e ? "the event was not made with cudaEventInterprocess | "
                         "cudaEventDisableTiming"
                       : "the event does not exist: destroyed already, or never created?");
    else {
        misuse_handle_elsewhere(c->process, &c->request.q, e);
        answer_handle(c, ipc_event_export(e, c->reply.r.data));
    }
}

void request_ipc_event_open(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    if (!request_device(c, q->device))
        return;
    struct event *e = NULL;
    int error = q->data_bytes == IPC_HANDLE_BYTES
                    ? ipc_event_open(c->process, q->data, q->device, &e)
                    : VGPU_INVALID_HANDLE;
    if (e) {
        c->reply.r.value = e->id;
        node_counts.ipc_events_opened++;
    } else if (error == VGPU_DEVICE_UNINITIALIZED)
        request_fail(c, error, "this process made the event itself: use its own handle here");
    else
        request_fail(c, error,
                     "the handle names no event: not all of its 64 bytes arrived, or the exporter "
                     "has destroyed it or ended");
}
