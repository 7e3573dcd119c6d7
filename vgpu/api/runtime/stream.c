/* SPDX-License-Identifier: MIT
 * stream.c: streams. A handle is the node's number of the stream; 0, cudaStreamLegacy and
 * cudaStreamPerThread are CUDA's handles of the current device's default streams.
 */
#include "runtime.h"

#define GREATEST_PRIORITY (-5) /* recorded; 0 is the lowest priority */

static cudaError_t create_stream(const char *call, cudaStream_t *stream, unsigned int flags,
                                 int priority)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_STREAM_CREATE);
    if (!request)
        return vgpu__failed();
    if (!stream || (flags & ~(unsigned int)cudaStreamNonBlocking))
        return vgpu__record(cudaErrorInvalidValue);
    request->flags = flags;
    request->priority = priority > 0 ? 0 : priority;
    if (request->priority < GREATEST_PRIORITY)
        request->priority = GREATEST_PRIORITY;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *stream = (cudaStream_t)(uintptr_t)reply->value;
    return error;
}

cudaError_t cudaStreamCreate(cudaStream_t *pStream)
{
    return create_stream("cudaStreamCreate", pStream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
    return create_stream("cudaStreamCreateWithFlags", pStream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    return create_stream("cudaStreamCreateWithPriority", pStream, flags, priority);
}

/* Begins a request about a stream; NULL: the call must return vgpu__failed(). */
static struct vgpu_request *begin_stream_request(const char *call, uint32_t op, cudaStream_t stream)
{
    struct vgpu_request *request = vgpu__begin(call, op);
    if (request)
        request->stream = vgpu__stream_id(stream);
    return request;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    struct vgpu_request *request =
        begin_stream_request("cudaStreamDestroy", VGPU_OP_STREAM_DESTROY, stream);
    if (!request)
        return vgpu__failed();
    if (request->stream <= VGPU_STREAM_PER_THREAD)
        return vgpu__refuse(cudaErrorInvalidResourceHandle, "cudaStreamDestroy",
                            "a default stream cannot be destroyed");
    vgpu__stream_attributes_forget(stream);
    return vgpu__end(NULL);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = vgpu__capture_forbids("cudaStreamSynchronize", stream, true);
    if (error != cudaSuccess)
        return error;
    return begin_stream_request("cudaStreamSynchronize", VGPU_OP_STREAM_SYNC, stream)
               ? vgpu__end(NULL)
               : vgpu__failed();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    bool legacy =
        vgpu__stream_id(stream) == VGPU_STREAM_LEGACY; /* treated like a wait (recorded) */
    cudaError_t error = vgpu__capture_forbids("cudaStreamQuery", stream, legacy);
    if (error != cudaSuccess)
        return error;
    return begin_stream_request("cudaStreamQuery", VGPU_OP_STREAM_QUERY, stream) ? vgpu__end(NULL)
                                                                                 : vgpu__failed();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    struct vgpu_request *request =
        begin_stream_request("cudaStreamWaitEvent", VGPU_OP_STREAM_WAIT, stream);
    if (!request)
        return vgpu__failed();
    if (flags == cudaEventWaitExternal && atomic_load(&vgpu__capturing) == 0)
        return vgpu__refuse(cudaErrorIllegalState, "cudaStreamWaitEvent",
                            "an event is external only to a stream that is captured");
    if (flags == cudaEventWaitExternal)
        return vgpu__capture_external("cudaStreamWaitEvent", stream, cudaGraphNodeTypeWaitEvent,
                                      event);
    if (flags != cudaEventWaitDefault)
        return vgpu__refuse(cudaErrorInvalidValue, "cudaStreamWaitEvent",
                            "flags are %u; outside of captures they must be 0", flags);
    cudaError_t error;
    if (!event)
        return vgpu__record(cudaErrorInvalidResourceHandle);
    if (vgpu__capture_wait("cudaStreamWaitEvent", stream, event, &error))
        return error;
    request = begin_stream_request("cudaStreamWaitEvent", VGPU_OP_STREAM_WAIT, stream);
    if (!request)
        return vgpu__failed();
    request->event = (uint64_t)(uintptr_t)event;
    request->flags = vgpu__self.heard ? VGPU_WAIT_TOLD : 0;
    vgpu__self.heard = false;
    return vgpu__end(NULL);
}

/* ---- queries ---- */

static cudaError_t query_stream_info(const char *call, cudaStream_t stream, const void *out,
                                     const struct vgpu_reply **reply)
{
    if (!begin_stream_request(call, VGPU_OP_STREAM_INFO, stream))
        return vgpu__failed();
    return out ? vgpu__end(reply) : vgpu__record(cudaErrorInvalidValue);
}

cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
{
    const struct vgpu_reply *reply;
    cudaError_t error = query_stream_info("cudaStreamGetFlags", hStream, flags, &reply);
    if (error == cudaSuccess)
        *flags = (unsigned int)reply->value;
    return error;
}

cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority)
{
    const struct vgpu_reply *reply;
    cudaError_t error = query_stream_info("cudaStreamGetPriority", hStream, priority, &reply);
    if (error == cudaSuccess)
        *priority = (int)reply->value2;
    return error;
}

cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device)
{
    const struct vgpu_reply *reply;
    cudaError_t error = query_stream_info("cudaStreamGetDevice", hStream, device, &reply);
    if (error == cudaSuccess)
        *device = vgpu__logical((int)reply->value3);
    return error;
}

/* The node's stream number is unique within the process, as the identifier must be. */
cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)
{
    const struct vgpu_reply *reply;
    cudaError_t error = query_stream_info("cudaStreamGetId", hStream, streamId, &reply);
    if (error == cudaSuccess)
        *streamId = vgpu__stream_id(hStream);
    return error;
}
