/* SPDX-License-Identifier: MIT
 * capture.c: see graph.h. A capture has an origin stream and the streams that have joined it
 * through events. For each of these streams it keeps the set of nodes on which the stream's next
 * node will depend. An event recorded in a capture holds a copy of that set; a stream that waits
 * for the event adds it to its own. The error codes are recorded ones (graphs.txt).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"

pthread_mutex_t vgpu__capture_lock = PTHREAD_MUTEX_INITIALIZER;
struct capture *vgpu__captures;
static struct captured_event *captured_events; /* guarded by vgpu__capture_lock */
_Thread_local enum cudaStreamCaptureMode vgpu__capture_mode;

static bool no_capture_active(void)
{
    return atomic_load_explicit(&vgpu__capturing, memory_order_relaxed) == 0;
}

/* ---- sets of nodes ---- */

bool vgpu__set_add(struct set *set, struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->node[i] == node)
            return true;
    if (set->count == set->room) {
        size_t room = set->room ? 2 * set->room : 4;
        void *grown = realloc(set->node, room * sizeof(struct CUgraphNode_st *));
        if (!grown)
            return false;
        set->node = grown;
        set->room = room;
    }
    set->node[set->count++] = node;
    return true;
}

static bool set_join(struct set *set, const struct set *other)
{
    for (size_t i = 0; i < other->count; i++)
        if (!vgpu__set_add(set, other->node[i]))
            return false;
    return true;
}

/* ---- streams and events of captures ---- */

/* The stream's number. The per-thread default stream has the same number in all threads and on all
 * devices, so its key is made of the address of the thread's state and the device. */
uint64_t vgpu__capture_key(cudaStream_t stream)
{
    uint64_t id = vgpu__stream_id(stream);
    return id == VGPU_STREAM_PER_THREAD
               ? (uint64_t)(uintptr_t)&vgpu__self + (uint64_t)vgpu__self.device
               : id;
}

struct member *vgpu__capture_member(struct capture *c, uint64_t stream)
{
    struct member *m = c->members;
    while (m && m->stream != stream)
        m = m->next;
    return m;
}

struct capture *vgpu__capture_of(uint64_t stream, struct member **member)
{
    for (struct capture *c = vgpu__captures; c; c = c->next)
        if ((*member = vgpu__capture_member(c, stream)))
            return c;
    return NULL;
}

static struct capture *find_capture_by_id(unsigned long long id)
{
    struct capture *c = vgpu__captures;
    while (c && c->id != id)
        c = c->next;
    return c;
}

static struct captured_event **find_captured_event(cudaEvent_t event)
{
    struct captured_event **at = &captured_events;
    while (*at && (*at)->event != event)
        at = &(*at)->next;
    return at;
}

cudaError_t vgpu__stream_kind(const char *call, cudaStream_t stream, struct stream_kind *kind)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_STREAM_INFO);
    *kind = (struct stream_kind){.blocking = false};
    if (!request)
        return vgpu__failed();
    request->stream = vgpu__stream_id(stream);
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *kind = (struct stream_kind){.blocking = !(reply->value & cudaStreamNonBlocking),
                                     .physical = (int)reply->value3};
    return error;
}

struct member *vgpu__capture_join(struct capture *c, uint64_t stream,
                                  const struct stream_kind *kind)
{
    struct member *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->stream = stream;
    m->physical = kind->physical;
    m->next = c->members;
    c->members = m;
    c->blocking = c->blocking || kind->blocking;
    return m;
}

void vgpu__capture_end(struct capture *c)
{
    struct capture **at = &vgpu__captures;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    for (struct member *m = c->members, *next; m; m = next) {
        next = m->next;
        free(m->last.node);
        free(m);
    }
    c->graph->captures--;
    free(c);
    atomic_fetch_sub(&vgpu__capturing, 1);
}

/* ---- calls while a capture is under way ---- */

cudaError_t vgpu__capture_spoil_with(struct capture *c, const char *call, cudaError_t error,
                                     const char *why)
{
    c->spoiled = true;
    return vgpu__refuse(error, call, "%s; the capture is invalid now", why);
}

/* An error if a call on the legacy default stream would have to wait for a captured stream. */
static cudaError_t check_legacy(const char *call, uint64_t stream)
{
    for (struct capture *c = vgpu__captures; stream == VGPU_STREAM_LEGACY && c; c = c->next)
        if (c->blocking)
            return vgpu__capture_spoil_with(
                c, call, cudaErrorStreamCaptureImplicit,
                "the default stream waits for a stream that is being captured; capture on "
                "a stream made with cudaStreamNonBlocking");
    return cudaSuccess;
}

struct CUgraphNode_st *vgpu__capture(const char *call, cudaStream_t stream,
                                     enum cudaGraphNodeType type, cudaError_t *error)
{
    struct CUgraphNode_st *node = NULL;
    struct member *m;
    *error = cudaSuccess;
    if (no_capture_active())
        return NULL;
    pthread_mutex_lock(&vgpu__capture_lock);
    struct capture *c = vgpu__capture_of(vgpu__capture_key(stream), &m);
    if (!c) {
        *error = check_legacy(call, vgpu__stream_id(stream));
    } else if (c->spoiled) {
        *error = vgpu__record(cudaErrorStreamCaptureInvalidated);
    } else {
        node = vgpu__graph_add(c->graph, type, m->last.node, m->last.count);
        m->last.count = 0;
        if (node)
            node->physical = m->physical;
        if (!node || !vgpu__set_add(&m->last, node)) {
            c->spoiled = true;
            *error = vgpu__no_memory(call);
        }
    }
    pthread_mutex_unlock(&vgpu__capture_lock);
    return *error == cudaSuccess ? node : NULL;
}

/* True if the calling thread may make a call that is unsafe during this capture. */
static bool capture_tolerates(const struct capture *c)
{
    if (c->mode == cudaStreamCaptureModeRelaxed ||
        vgpu__capture_mode == cudaStreamCaptureModeRelaxed)
        return true;
    return c->thread != &vgpu__capture_mode &&
           (c->mode == cudaStreamCaptureModeThreadLocal ||
            vgpu__capture_mode == cudaStreamCaptureModeThreadLocal);
}

static cudaError_t check_unsafe(const char *call)
{
    for (struct capture *c = vgpu__captures; c; c = c->next)
        if (!capture_tolerates(c))
            return vgpu__capture_spoil_with(
                c, call, cudaErrorStreamCaptureUnsupported,
                "the call could disturb the capture that is under way; make it before, or "
                "capture with cudaStreamCaptureModeRelaxed");
    return cudaSuccess;
}

cudaError_t vgpu__capture_forbids(const char *call, cudaStream_t stream, bool waits)
{
    struct member *m;
    if (no_capture_active())
        return cudaSuccess;
    pthread_mutex_lock(&vgpu__capture_lock);
    struct capture *c = vgpu__capture_of(vgpu__capture_key(stream), &m);
    cudaError_t error =
        c ? vgpu__capture_spoil_with(c, call, cudaErrorStreamCaptureUnsupported,
                                     "the stream is being captured: its work does not run yet, so "
                                     "it cannot be queried or waited for")
          : check_legacy(call, vgpu__stream_id(stream));
    if (error == cudaSuccess && waits)
        error = check_unsafe(call);
    pthread_mutex_unlock(&vgpu__capture_lock);
    return error;
}

cudaError_t vgpu__capture_gate(const char *call, uint32_t op)
{
    bool all = op == VGPU_OP_DEVICE_SYNC || op == VGPU_OP_DEVICE_RESET;
    bool unsafe = op == VGPU_OP_MALLOC || op == VGPU_OP_FREE || op == VGPU_OP_HOST_ALLOC ||
                  op == VGPU_OP_HOST_FREE;
    if (no_capture_active() || (!all && !unsafe))
        return cudaSuccess;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&vgpu__capture_lock);
    if (all && vgpu__captures)
        error = vgpu__capture_spoil_with(
            vgpu__captures, call, cudaErrorStreamCaptureUnsupported,
            "a stream is being captured, and a wait for all streams cannot be captured");
    else if (unsafe)
        error = check_unsafe(call);
    pthread_mutex_unlock(&vgpu__capture_lock);
    return error;
}

void vgpu__capture_spoil(cudaStream_t stream)
{
    struct member *m;
    if (no_capture_active())
        return;
    pthread_mutex_lock(&vgpu__capture_lock);
    struct capture *c = vgpu__capture_of(vgpu__capture_key(stream), &m);
    if (c)
        c->spoiled = true;
    pthread_mutex_unlock(&vgpu__capture_lock);
}

/* ---- events ---- */

static void forget_event(cudaEvent_t event)
{
    struct captured_event **at = find_captured_event(event), *e = *at;
    if (!e)
        return;
    *at = e->next;
    free(e->last.node);
    free(e);
    atomic_fetch_sub(&vgpu__capturing, 1);
}

static bool remember_event(cudaEvent_t event, const struct capture *c, const struct set *last)
{
    struct captured_event *e = calloc(1, sizeof *e);
    forget_event(event);
    if (!e || !set_join(&e->last, last)) {
        free(e);
        return false;
    }
    e->event = event;
    e->capture = c->id;
    e->next = captured_events;
    captured_events = e;
    atomic_fetch_add(&vgpu__capturing, 1);
    return true;
}

void vgpu__capture_forget(cudaEvent_t event)
{
    if (no_capture_active())
        return;
    pthread_mutex_lock(&vgpu__capture_lock);
    forget_event(event);
    pthread_mutex_unlock(&vgpu__capture_lock);
}

bool vgpu__capture_record(cudaEvent_t event, cudaStream_t stream, cudaError_t *error)
{
    struct member *m;
    if (no_capture_active())
        return false;
    pthread_mutex_lock(&vgpu__capture_lock);
    struct capture *c = vgpu__capture_of(vgpu__capture_key(stream), &m);
    *error = cudaSuccess;
    if (!c)
        forget_event(event);
    else if (c->spoiled)
        *error = vgpu__record(cudaErrorStreamCaptureInvalidated);
    else if (!remember_event(event, c, &m->last)) {
        c->spoiled = true;
        *error = vgpu__no_memory(NULL);
    }
    pthread_mutex_unlock(&vgpu__capture_lock);
    return c != NULL;
}

/* True if the event was ever recorded outside of captures. */
static bool recorded_outside(const char *call, cudaEvent_t event)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_EVENT_QUERY);
    if (!request)
        return false;
    request->event = (uint64_t)(uintptr_t)event;
    request->flags = 1; /* query only whether it was recorded */
    return vgpu__ask(-1, true, &reply) == cudaSuccess && reply->value;
}

/* Adds the event's nodes to those on which the stream's next node depends. */
static cudaError_t wait_for_captured_event(const char *call, struct capture *c, uint64_t stream,
                                           const struct captured_event *e,
                                           const struct stream_kind *kind)
{
    struct member *m = vgpu__capture_member(c, stream);
    if (c->spoiled)
        return vgpu__record(cudaErrorStreamCaptureInvalidated);
    if (e->capture != c->id)
        return vgpu__capture_spoil_with(c, call, cudaErrorStreamCaptureIsolation,
                                        "the event belongs to another capture");
    m = m ? m : vgpu__capture_join(c, stream, kind);
    if (m && set_join(&m->last, &e->last))
        return cudaSuccess;
    c->spoiled = true;
    return vgpu__no_memory(call);
}

bool vgpu__capture_wait(const char *call, cudaStream_t stream, cudaEvent_t event,
                        cudaError_t *error)
{
    uint64_t id = vgpu__capture_key(stream);
    struct member *m;
    struct stream_kind kind;
    bool outside, taken = true;
    *error = cudaSuccess;
    if (no_capture_active())
        return false;
    outside = recorded_outside(call, event);
    vgpu__stream_kind(call, stream, &kind);
    pthread_mutex_lock(&vgpu__capture_lock);
    struct capture *c = vgpu__capture_of(id, &m);
    struct captured_event *e = *find_captured_event(event);
    if (!c && !e)
        taken = false;
    else if (e && (c || find_capture_by_id(e->capture)))
        *error =
            wait_for_captured_event(call, c ? c : find_capture_by_id(e->capture), id, e, &kind);
    else if (e)
        *error = vgpu__refuse(cudaErrorInvalidValue, call,
                              "the event was last recorded in a capture that is over");
    else if (outside)
        *error = vgpu__capture_spoil_with(c, call, cudaErrorStreamCaptureIsolation,
                                          "the event was recorded outside of the capture");
    pthread_mutex_unlock(&vgpu__capture_lock);
    return taken;
}

bool vgpu__capture_holds(const char *call, cudaEvent_t event, cudaError_t *error)
{
    if (no_capture_active())
        return false;
    pthread_mutex_lock(&vgpu__capture_lock);
    struct captured_event *e = *find_captured_event(event);
    struct capture *c = e ? find_capture_by_id(e->capture) : NULL;
    if (c)
        *error = vgpu__capture_spoil_with(
            c, call, cudaErrorCapturedEvent,
            "the event was recorded in a capture: it will happen when the graph runs");
    else if (e)
        *error = vgpu__refuse(cudaErrorInvalidValue, call,
                              "the event was last recorded in a capture that is over");
    pthread_mutex_unlock(&vgpu__capture_lock);
    return e != NULL;
}
