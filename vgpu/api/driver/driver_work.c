/* SPDX-License-Identifier: MIT
 * driver_work.c: streams and events of the driver API, which are the runtime's.
 */
#include "driver.h"

#include <stdlib.h>

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    VGPU_DRIVER(cudaStreamCreateWithFlags(stream, flags));
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    VGPU_DRIVER(cudaStreamCreateWithPriority(stream, flags, priority));
}

CUresult cuStreamDestroy(CUstream stream)
{
    VGPU_DRIVER(cudaStreamDestroy(stream));
}

CUresult cuStreamSynchronize(CUstream stream)
{
    VGPU_DRIVER(cudaStreamSynchronize(stream));
}

CUresult cuStreamQuery(CUstream stream)
{
    VGPU_DRIVER(cudaStreamQuery(stream));
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    VGPU_DRIVER(cudaStreamWaitEvent(stream, event, flags));
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
    VGPU_DRIVER(cudaStreamGetFlags(stream, flags));
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    VGPU_DRIVER(cudaStreamGetPriority(stream, priority));
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
    VGPU_DRIVER(cudaStreamGetId(stream, id));
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *device)
{
    VGPU_DRIVER(cudaStreamGetDevice(stream, device));
}

/* Returns the current context if it belongs to the stream's device, else that device's primary
 * context. */
static cudaError_t context_of_stream(CUstream stream, CUcontext *context)
{
    int device;
    cudaError_t error = context ? cudaStreamGetDevice(stream, &device) : cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error;
    CUcontext current = vgpu__driver_current();
    *context = current->device == device ? current : vgpu__driver_primary(device);
    return cudaSuccess;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    VGPU_DRIVER(context_of_stream(stream, context));
}

/* ---- functions of the host ---- */

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    VGPU_DRIVER(cudaLaunchHostFunc(stream, function, data));
}

struct callback {
    CUstreamCallback function;
    void *data;
};

static void call_back(cudaStream_t stream, cudaError_t status, void *data)
{
    struct callback callback = *(struct callback *)data;
    free(data);
    callback.function(stream, (CUresult)status, callback.data);
}

static cudaError_t add_callback(CUstream stream, struct callback callback, unsigned int flags)
{
    struct callback *own = callback.function ? malloc(sizeof *own) : NULL;
    if (!own)
        return callback.function ? vgpu__no_memory("cuStreamAddCallback") : cudaErrorInvalidValue;
    *own = callback;
    cudaError_t error = cudaStreamAddCallback(stream, call_back, own, flags);
    if (error != cudaSuccess)
        free(own);
    return error;
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
                             unsigned int flags)
{
    VGPU_DRIVER(add_callback(stream, (struct callback){callback, data}, flags));
}

/* ---- events ---- */

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    VGPU_DRIVER(cudaEventCreateWithFlags(event, flags));
}

CUresult cuEventDestroy(CUevent event)
{
    VGPU_DRIVER(cudaEventDestroy(event));
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    VGPU_DRIVER(cudaEventRecord(event, stream));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
    VGPU_DRIVER(cudaEventRecordWithFlags(event, stream, flags));
}

CUresult cuEventSynchronize(CUevent event)
{
    VGPU_DRIVER(cudaEventSynchronize(event));
}

CUresult cuEventQuery(CUevent event)
{
    VGPU_DRIVER(cudaEventQuery(event));
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent stop)
{
    VGPU_DRIVER(ms ? cudaEventElapsedTime(ms, start, stop) : cudaErrorInvalidResourceHandle);
}
