/* SPDX-License-Identifier: MIT
 * managed.c: managed memory. Like pinned memory it lies in the process's host memfd, at one address
 * for the program and every GPU, and it never migrates: prefetching and advice are checked and have
 * no effect. If the program reads it before it has waited for a kernel, the data is stale, as it
 * may be on hardware with concurrent access (recorded: concurrentManagedAccess=1).
 */
#include "runtime.h"

cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    if (!devPtr || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return vgpu__begin("cudaMallocManaged", VGPU_OP_CONTEXT)
                   ? vgpu__record(cudaErrorInvalidValue)
                   : vgpu__failed();
    vgpu__used(VGPU_FEATURE_managed);
    return vgpu__host_allocate("cudaMallocManaged", devPtr, size, flags, true);
}

/* Checks that the location is a visible GPU or the host. */
static cudaError_t check_location(const char *call, struct cudaMemLocation location)
{
    if (location.type == cudaMemLocationTypeDevice) {
        if (location.id >= 0 && location.id < vgpu__process.device_count)
            return cudaSuccess;
        return vgpu__refuse(cudaErrorInvalidDevice, call, "there is no GPU %d: there are %d",
                            location.id, vgpu__process.device_count);
    }
    if (location.type == cudaMemLocationTypeHost || location.type == cudaMemLocationTypeHostNuma ||
        location.type == cudaMemLocationTypeHostNumaCurrent)
        return cudaSuccess;
    return vgpu__refuse(cudaErrorInvalidValue, call, "%d is not a type of location", location.type);
}

static cudaError_t check_managed_range(const char *call, const void *pointer, size_t bytes)
{
    if (pointer && bytes > 0 && vgpu__managed(pointer, bytes))
        return cudaSuccess;
    return vgpu__refuse(cudaErrorInvalidValue, call,
                        "[%p, +%zu) is not in one live allocation of cudaMallocManaged", pointer,
                        bytes);
}

/* Checks that the context and the stream exist and that the process has no sticky error. */
static cudaError_t check_stream(const char *call, cudaStream_t stream)
{
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_STREAM_INFO);
    if (!request)
        return vgpu__failed();
    request->stream = vgpu__stream_id(stream);
    return vgpu__end(NULL);
}

cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, struct cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream)
{
    const char *call = "cudaMemPrefetchAsync";
    vgpu__used(VGPU_FEATURE_hints);
    cudaError_t error = check_stream(call, stream);
    if (error == cudaSuccess && flags != 0)
        error = vgpu__refuse(cudaErrorInvalidValue, call, "flags are %u: they must be 0", flags);
    if (error == cudaSuccess)
        error = check_location(call, location);
    return error != cudaSuccess ? error : check_managed_range(call, devPtr, count);
}

cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    const char *call = "cudaMemAdvise";
    vgpu__used(VGPU_FEATURE_hints);
    cudaError_t error = check_stream(call, cudaStreamLegacy);
    if (error != cudaSuccess)
        return error;
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return vgpu__refuse(cudaErrorInvalidValue, call, "%d is not a known advice", (int)advice);
    bool about_a_place = advice != cudaMemAdviseSetReadMostly &&
                         advice != cudaMemAdviseUnsetReadMostly &&
                         advice != cudaMemAdviseUnsetPreferredLocation;
    if (about_a_place)
        error = check_location(call, location);
    return error != cudaSuccess ? error : check_managed_range(call, devPtr, count);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length,
                                     unsigned int flags)
{
    const char *call = "cudaStreamAttachMemAsync";
    cudaError_t error = check_stream(call, stream);
    if (error != cudaSuccess)
        return error;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
        return vgpu__refuse(cudaErrorInvalidValue, call, "flags are %u", flags);
    error = check_managed_range(call, devPtr, length ? length : 1);
    uint64_t first, size;
    if (error != cudaSuccess || !vgpu__host_range(devPtr, &first, &size))
        return error;
    if (first != (uint64_t)(uintptr_t)devPtr || (length && length != size))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "[%p, +%zu) is a part of an allocation; give its start, and 0 or its "
                            "whole length (%llu)",
                            devPtr, length, (unsigned long long)size);
    return cudaSuccess;
}
