/* SPDX-License-Identifier: MIT
 * call.c: one request and its reply, and what every call does before and after them.
 */
#include "context.h"
#include "observer.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

atomic_int vgpu__capturing;
atomic_uint vgpu__functions_returned;

static _Atomic(vgpu__gate *) capture_gate;

void vgpu__gate_set(vgpu__gate *set)
{
    atomic_store(&capture_gate, set);
}

/* ---- before a call ---- */

bool (*vgpu__failure_hook)(const char *call);

static bool has_to_fail(const char *call)
{
    return vgpu__failure_hook && vgpu__failure_hook(call);
}

cudaError_t vgpu__enter_call(const char *call)
{
    cudaError_t error = vgpu__start();
    if (error == cudaSuccess && has_to_fail(call))
        error = cudaErrorUnknown;
    if (error == cudaSuccess)
        vgpu__clock_set(vgpu__self.clock_ps + vgpu__process.info->issue_ps);
    return error;
}

static cudaError_t connection_ready(void)
{
    cudaError_t error = vgpu__start();
    if (error != cudaSuccess)
        return error;
    if (atomic_load(&vgpu__process.forked))
        return cudaErrorInitializationError;
    if (vgpu__self.in_host_function)
        return cudaErrorNotPermitted;
    return vgpu__wire() ? cudaSuccess : cudaErrorUnknown;
}

bool vgpu__admit(const char *call, uint32_t op)
{
    if (vgpu__record(connection_ready()) != cudaSuccess)
        return false;
    if (has_to_fail(call)) {
        vgpu__record(cudaErrorUnknown);
        return false;
    }
    if (atomic_load_explicit(&vgpu__capturing, memory_order_relaxed) &&
        atomic_load(&capture_gate)(call, op) != cudaSuccess)
        return false;
    vgpu__context_used();
    vgpu__call_named(call);
    return true;
}

struct vgpu_request *vgpu__new_request(const char *call, uint32_t op)
{
    struct vgpu_request *request = (struct vgpu_request *)vgpu__self.wire->request;
    *request = (struct vgpu_request){.op = op,
                                     .device = vgpu__process.physical[vgpu__self.device],
                                     .peer = -1,
                                     .graph = vgpu__self.graph,
                                     .unregistered = vgpu__unregistered_threads(),
                                     .caller = vgpu__caller(),
                                     .clock_ps = vgpu__self.clock_ps};
    vgpu__used_request(op);
    vgpu_text_copy(request->call, sizeof request->call, call);
    vgpu__call_site(request->caller, request->site, sizeof request->site);
    return request;
}

struct vgpu_request *vgpu__begin(const char *call, uint32_t op)
{
    return vgpu__admit(call, op) ? vgpu__new_request(call, op) : NULL;
}

cudaError_t vgpu__failed(void)
{
    return vgpu__self.last_error;
}

/* ---- one request ---- */

struct vgpu_reply *vgpu__aside(struct vgpu_request *request)
{
    struct vgpu__wire *wire = vgpu__wire();
    struct vgpu_reply *reply = wire ? (struct vgpu_reply *)wire->text : NULL;
    request->peer = -1;
    request->unregistered = vgpu__unregistered_threads();
    request->free = true;
    request->clock_ps = vgpu__self.clock_ps;
    if (!wire || atomic_load(&vgpu__process.lost) ||
        !vgpu__exchange(wire->fd, &wire->doors, request, -1, reply, NULL, NULL))
        return NULL;
    if (reply->explain[0])
        vgpu__explain(request->call, (cudaError_t)reply->error, reply->explain);
    return reply;
}

/* Writes the output of kernels' printf to stdout, in the order in which the node received it. */
static void print_text(void)
{
    struct vgpu_request request = {.op = VGPU_OP_PRINTF, .call = "printf of kernels"};
    const struct vgpu_reply *text;
    do {
        text = vgpu__aside(&request);
        if (!text)
            return;
        fwrite(text->data, 1, text->data_bytes, stdout);
    } while (text->text_waiting && text->data_bytes > 0);
    fflush(stdout);
}

static void keep_time(uint64_t clock_ps)
{
    vgpu__clock_set(clock_ps);
    uint64_t latest = atomic_load_explicit(&vgpu__process.latest_ps, memory_order_relaxed);
    while (latest < clock_ps &&
           !atomic_compare_exchange_weak(&vgpu__process.latest_ps, &latest, clock_ps))
        ;
}

/* The device's queue is full: waits until what is in it is done, as a GPU's driver makes a call
 * wait. False: that has failed. */
static bool wait_for_room(const struct vgpu_request *refused)
{
    struct vgpu_request wait = {.op = VGPU_OP_DEVICE_SYNC, .device = refused->device};
    vgpu_text_copy(wait.call, sizeof wait.call, refused->call);
    const struct vgpu_reply *reply = vgpu__aside(&wait);
    if (reply)
        keep_time(reply->clock_ps);
    return reply && reply->error == cudaSuccess;
}

/* Sends the request, and once more where the queue was full. */
static bool exchange_with_room(struct vgpu__wire *wire, int fd, int *fds, int *fd_count)
{
    struct vgpu_request *request = (struct vgpu_request *)wire->request;
    struct vgpu_reply *reply = (struct vgpu_reply *)wire->reply;
    if (!vgpu__exchange(wire->fd, &wire->doors, request, fd, reply, fds, fd_count))
        return false;
    if (!reply->full || !wait_for_room(request))
        return true;
    request->clock_ps = vgpu__self.clock_ps;
    return vgpu__exchange(wire->fd, &wire->doors, request, fd, reply, fds, fd_count);
}

static cudaError_t ask_node(int fd, bool free_of_charge, const struct vgpu_reply **out, int *fds,
                            int *fd_count)
{
    struct vgpu__wire *wire = vgpu__self.wire;
    struct vgpu_request *request = (struct vgpu_request *)wire->request;
    struct vgpu_reply *reply = (struct vgpu_reply *)wire->reply;
    request->free = free_of_charge || vgpu__self.graph;
    vgpu__request_begins();
    if (atomic_load(&vgpu__process.lost) || !exchange_with_room(wire, fd, fds, fd_count))
        return cudaErrorUnknown;
    atomic_load_explicit(&vgpu__functions_returned, memory_order_acquire);
    if (!free_of_charge)
        keep_time(reply->clock_ps);
    if (reply->explain[0])
        vgpu__explain(request->call, (cudaError_t)reply->error, reply->explain);
    vgpu__reply_came(request, reply);
    if (reply->text_waiting)
        print_text();
    if (out)
        *out = reply;
    return (cudaError_t)reply->error;
}

cudaError_t vgpu__ask(int fd, bool free_of_charge, const struct vgpu_reply **out)
{
    return ask_node(fd, free_of_charge, out, NULL, NULL);
}

cudaError_t vgpu__ask_fds(int *fds, int *count)
{
    return vgpu__record(ask_node(-1, false, NULL, fds, count));
}

cudaError_t vgpu__end(const struct vgpu_reply **reply)
{
    return vgpu__record(vgpu__ask(-1, false, reply));
}
