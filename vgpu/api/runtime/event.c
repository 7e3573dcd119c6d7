/* SPDX-License-Identifier: MIT
 * event.c: events. A handle is the node's number of the event. Times are virtual, so
 * cudaEventElapsedTime returns the same value in every run.
 */
#include "runtime.h"

static cudaError_t create_event(const char *call, cudaEvent_t *event, unsigned int flags)
{
    const unsigned int known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_EVENT_CREATE);
    if (!request)
        return vgpu__failed();
    if (!event || (flags & ~known))
        return vgpu__record(cudaErrorInvalidValue);
    if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "cudaEventInterprocess needs cudaEventDisableTiming as well");
    request->flags = flags;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *event = (cudaEvent_t)(uintptr_t)reply->value;
    return error;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return create_event("cudaEventCreate", event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    return create_event("cudaEventCreateWithFlags", event, flags);
}

/* Begins a request about an event; NULL: the call must return vgpu__failed(). */
static struct vgpu_request *begin_event_request(const char *call, uint32_t op, cudaEvent_t event)
{
    struct vgpu_request *request = vgpu__begin(call, op);
    if (request && !event) {
        vgpu__refuse(cudaErrorInvalidResourceHandle, call, "the event is a null handle");
        return NULL;
    }
    if (request)
        request->event = (uint64_t)(uintptr_t)event;
    return request;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    vgpu__capture_forget(event);
    return begin_event_request("cudaEventDestroy", VGPU_OP_EVENT_DESTROY, event) ? vgpu__end(NULL)
                                                                                 : vgpu__failed();
}

static cudaError_t record_event(const char *call, cudaEvent_t event, cudaStream_t stream,
                                unsigned int flags)
{
    struct vgpu_request *request = begin_event_request(call, VGPU_OP_EVENT_RECORD, event);
    if (!request)
        return vgpu__failed();
    if (flags == cudaEventRecordExternal)
        return vgpu__capture_external(call, stream, cudaGraphNodeTypeEventRecord, event);
    if (flags != cudaEventRecordDefault)
        return vgpu__refuse(cudaErrorInvalidValue, call, "flags are %u: they are 0 or 1", flags);
    cudaError_t error;
    if (vgpu__capture_record(event, stream, &error))
        return error;
    request->stream = vgpu__stream_id(stream);
    return vgpu__end(NULL);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return record_event("cudaEventRecord", event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    return record_event("cudaEventRecordWithFlags", event, stream, flags);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error;
    if (vgpu__capture_holds("cudaEventSynchronize", event, &error))
        return error;
    return begin_event_request("cudaEventSynchronize", VGPU_OP_EVENT_SYNC, event) ? vgpu__end(NULL)
                                                                                  : vgpu__failed();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t error;
    if (vgpu__capture_holds("cudaEventQuery", event, &error))
        return error;
    return begin_event_request("cudaEventQuery", VGPU_OP_EVENT_QUERY, event) ? vgpu__end(NULL)
                                                                             : vgpu__failed();
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request =
        begin_event_request("cudaEventElapsedTime", VGPU_OP_EVENT_ELAPSED, start);
    if (!request)
        return vgpu__failed();
    if (!ms || !end)
        return vgpu__record(ms ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    request->event2 = (uint64_t)(uintptr_t)end;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *ms = (float)((double)(int64_t)reply->value * 1e-9); /* ps to ms */
    return error;
}
