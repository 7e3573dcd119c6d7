/* SPDX-License-Identifier: MIT
 * cudart12.c: libcudart.so.12, the runtime as programs of Toolkit 12 ask for it: its symbol
 * version, and the functions that are others than those of that name in libcudart.so.13. All of the
 * others are jumps to libcudart.so.13 (older_jumps.sh), so that a process has one runtime,
 * whatever it asks for.
 */
#include <stddef.h>
#include <string.h>

#include <cuda_runtime_api.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* for the fields of CUDA 12 */

cudaError_t vgpu__refuse(cudaError_t code, const char *call, const char *format, ...); /* core.h */

/* newer_NAME is NAME of libcudart.so.13. */
#define NEWER_FORM(name, type)                                                                     \
    __asm__(".symver newer_" #name ", " #name "@libcudart.so.13");                                 \
    extern __typeof__(type) newer_##name;
#define NEWER(name) NEWER_FORM(name, name)

/* Defines NAME of libcudart.so.12, whose parameters are not those that the header declares. */
#define OLDER(name, parameters)                                                                    \
    cudaError_t older_##name parameters __asm__(#name);                                            \
    cudaError_t older_##name parameters

/* The same, and its form for a default stream per thread. `call` is a call of newer(name). */
#define newer(name) newer_##name
#define OLDER_FORMS(name, of, parameters, arguments)                                               \
    NEWER(of)                                                                                      \
    NEWER_FORM(of##_ptsz, of)                                                                      \
    OLDER(name, parameters)                                                                        \
    {                                                                                              \
        return newer_##of arguments;                                                               \
    }                                                                                              \
    OLDER(name##_ptsz, parameters)                                                                 \
    {                                                                                              \
        return newer_##of##_ptsz arguments;                                                        \
    }
#define OLDER_FORM(name, of, parameters, arguments)                                                \
    OLDER(name, parameters)                                                                        \
    {                                                                                              \
        return newer_##of arguments;                                                               \
    }

NEWER(cudaRuntimeGetVersion)
OLDER(cudaRuntimeGetVersion, (int *version))
{
    cudaError_t error = newer(cudaRuntimeGetVersion)(version);
    if (error == cudaSuccess)
        *version = 12090; /* the last Toolkit of its kind */
    return error;
}

/* ---- structures that have other members ---- */

#define SPAN(first, last)                                                                          \
    (offsetof(struct cudaDeviceProp, last) + sizeof(((struct cudaDeviceProp *)0)->last) -          \
     offsetof(struct cudaDeviceProp, first))

/* cudaDeviceProp of CUDA 12: eight members stand between those of CUDA 13. Each array holds those
 * from the one of its name to the one before the next. */
struct older_device_prop {
    _Alignas(8) char name[SPAN(name, maxGridSize)];
    int clockRate;
    _Alignas(8) char totalConstMem[SPAN(totalConstMem, texturePitchAlignment)];
    int deviceOverlap;
    char multiProcessorCount[SPAN(multiProcessorCount, multiProcessorCount)];
    int kernelExecTimeoutEnabled;
    char integrated[SPAN(integrated, canMapHostMemory)];
    int computeMode;
    char maxTexture1D[SPAN(maxTexture1D, maxTexture1DMipmap)];
    int maxTexture1DLinear;
    char maxTexture2D[SPAN(maxTexture2D, maxSurfaceCubemapLayered)];
    _Alignas(8) char surfaceAlignment[SPAN(surfaceAlignment, unifiedAddressing)];
    int memoryClockRate;
    char memoryBusWidth[SPAN(memoryBusWidth, localL1CacheSupported)];
    _Alignas(8) char sharedMemPerMultiprocessor[SPAN(sharedMemPerMultiprocessor,
                                                     hostNativeAtomicSupported)];
    int singleToDoublePrecisionPerfRatio;
    char pageableMemoryAccess[SPAN(pageableMemoryAccess, cooperativeLaunch)];
    int cooperativeMultiDeviceLaunch;
    _Alignas(8) char sharedMemPerBlockOptin[SPAN(sharedMemPerBlockOptin, unifiedFunctionPointers)];
    int reserved[63];
};
_Static_assert(sizeof(struct older_device_prop) == 1032, "cudaDeviceProp of CUDA 12");

#define COPY(to, from, member) memcpy(&(to)->member, &(from)->member, sizeof(to)->member)

static void fill_older_properties(struct older_device_prop *older,
                                  const struct cudaDeviceProp *prop)
{
    memset(older, 0, sizeof *older);
    COPY(older, prop, name);
    COPY(older, prop, clockRate);
    COPY(older, prop, totalConstMem);
    COPY(older, prop, deviceOverlap);
    COPY(older, prop, multiProcessorCount);
    COPY(older, prop, kernelExecTimeoutEnabled);
    COPY(older, prop, integrated);
    COPY(older, prop, computeMode);
    COPY(older, prop, maxTexture1D);
    COPY(older, prop, maxTexture1DLinear);
    COPY(older, prop, maxTexture2D);
    COPY(older, prop, surfaceAlignment);
    COPY(older, prop, memoryClockRate);
    COPY(older, prop, memoryBusWidth);
    COPY(older, prop, sharedMemPerMultiprocessor);
    COPY(older, prop, singleToDoublePrecisionPerfRatio);
    COPY(older, prop, pageableMemoryAccess);
    COPY(older, prop, sharedMemPerBlockOptin);
}

NEWER(cudaGetDeviceProperties)
OLDER(cudaGetDeviceProperties_v2, (struct older_device_prop * prop, int device))
{
    struct cudaDeviceProp newest;
    cudaError_t error = newer(cudaGetDeviceProperties)(prop ? &newest : NULL, device);
    if (error == cudaSuccess)
        fill_older_properties(prop, &newest);
    return error;
}

/* The first bytes of these are the same, and CUDA 13 has appended some. */
enum { POINTER_ATTRIBUTES_BYTES = 24, RESOURCE_DESC_BYTES = 64, RESOURCE_VIEW_BYTES = 48 };

NEWER(cudaPointerGetAttributes)
OLDER(cudaPointerGetAttributes, (void *attributes, const void *ptr))
{
    struct cudaPointerAttributes newest;
    cudaError_t error = newer(cudaPointerGetAttributes)(attributes ? &newest : NULL, ptr);
    if (error == cudaSuccess)
        memcpy(attributes, &newest, POINTER_ATTRIBUTES_BYTES);
    return error;
}

static const struct cudaResourceDesc *newer_resource(struct cudaResourceDesc *to, const void *from)
{
    memset(to, 0, sizeof *to);
    if (from)
        memcpy(to, from, RESOURCE_DESC_BYTES);
    return from ? to : NULL;
}

NEWER(cudaCreateTextureObject)
OLDER(cudaCreateTextureObject, (cudaTextureObject_t * object, const void *resource,
                                const struct cudaTextureDesc *texture, const void *view))
{
    struct cudaResourceDesc newest;
    struct cudaResourceViewDesc newest_view = {0};
    if (view)
        memcpy(&newest_view, view, RESOURCE_VIEW_BYTES);
    return newer(cudaCreateTextureObject)(object, newer_resource(&newest, resource), texture,
                                          view ? &newest_view : NULL);
}

NEWER(cudaCreateSurfaceObject)
OLDER(cudaCreateSurfaceObject, (cudaSurfaceObject_t * object, const void *resource))
{
    struct cudaResourceDesc newest;
    return newer(cudaCreateSurfaceObject)(object, newer_resource(&newest, resource));
}

NEWER(cudaGetTextureObjectResourceDesc)
OLDER(cudaGetTextureObjectResourceDesc, (void *resource, cudaTextureObject_t object))
{
    struct cudaResourceDesc newest;
    cudaError_t error = newer(cudaGetTextureObjectResourceDesc)(resource ? &newest : NULL, object);
    if (error == cudaSuccess)
        memcpy(resource, &newest, RESOURCE_DESC_BYTES);
    return error;
}

NEWER(cudaGetSurfaceObjectResourceDesc)
OLDER(cudaGetSurfaceObjectResourceDesc, (void *resource, cudaSurfaceObject_t object))
{
    struct cudaResourceDesc newest;
    cudaError_t error = newer(cudaGetSurfaceObjectResourceDesc)(resource ? &newest : NULL, object);
    if (error == cudaSuccess)
        memcpy(resource, &newest, RESOURCE_DESC_BYTES);
    return error;
}

/* ---- the number of a device in the place of a location ---- */

static struct cudaMemLocation location_of(int device)
{
    struct cudaMemLocation location = {cudaMemLocationTypeDevice, device};
    if (device == cudaCpuDeviceId)
        location = (struct cudaMemLocation){cudaMemLocationTypeHost, 0};
    return location;
}

OLDER_FORMS(cudaMemPrefetchAsync, cudaMemPrefetchAsync,
            (const void *at, size_t count, int device, cudaStream_t stream),
            (at, count, location_of(device), 0, stream))
OLDER_FORM(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync,
           (const void *at, size_t count, struct cudaMemLocation location, unsigned int flags,
            cudaStream_t stream),
           (at, count, location, flags, stream))
OLDER_FORM(cudaMemPrefetchAsync_v2_ptsz, cudaMemPrefetchAsync_ptsz,
           (const void *at, size_t count, struct cudaMemLocation location, unsigned int flags,
            cudaStream_t stream),
           (at, count, location, flags, stream))
NEWER(cudaMemAdvise)
OLDER_FORM(cudaMemAdvise, cudaMemAdvise,
           (const void *at, size_t count, enum cudaMemoryAdvise advice, int device),
           (at, count, advice, location_of(device)))
OLDER_FORM(cudaMemAdvise_v2, cudaMemAdvise,
           (const void *at, size_t count, enum cudaMemoryAdvise advice,
            struct cudaMemLocation location),
           (at, count, advice, location))

/* ---- graphs without data of edges ---- */

NEWER(cudaGraphAddDependencies)
NEWER(cudaGraphRemoveDependencies)
NEWER(cudaGraphGetEdges)
NEWER(cudaGraphNodeGetDependencies)
typedef const cudaGraphNode_t *nodes;
OLDER_FORM(cudaGraphAddDependencies, cudaGraphAddDependencies,
           (cudaGraph_t graph, nodes from, nodes to, size_t count), (graph, from, to, NULL, count))
OLDER_FORM(cudaGraphAddDependencies_v2, cudaGraphAddDependencies,
           (cudaGraph_t graph, nodes from, nodes to, const cudaGraphEdgeData *data, size_t count),
           (graph, from, to, data, count))
OLDER_FORM(cudaGraphRemoveDependencies, cudaGraphRemoveDependencies,
           (cudaGraph_t graph, nodes from, nodes to, size_t count), (graph, from, to, NULL, count))
OLDER_FORM(cudaGraphRemoveDependencies_v2, cudaGraphRemoveDependencies,
           (cudaGraph_t graph, nodes from, nodes to, const cudaGraphEdgeData *data, size_t count),
           (graph, from, to, data, count))
OLDER_FORM(cudaGraphGetEdges, cudaGraphGetEdges,
           (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count),
           (graph, from, to, NULL, count))
OLDER_FORM(cudaGraphGetEdges_v2, cudaGraphGetEdges,
           (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data,
            size_t *count),
           (graph, from, to, data, count))
OLDER_FORM(cudaGraphNodeGetDependencies, cudaGraphNodeGetDependencies,
           (cudaGraphNode_t node, cudaGraphNode_t *on, size_t *count), (node, on, NULL, count))
OLDER_FORM(cudaGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies,
           (cudaGraphNode_t node, cudaGraphNode_t *on, cudaGraphEdgeData *data, size_t *count),
           (node, on, data, count))
OLDER_FORMS(cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo,
            (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
             cudaGraph_t *graph, nodes *on, size_t *count),
            (stream, status, id, graph, on, NULL, count))
OLDER_FORM(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo,
           (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
            cudaGraph_t *graph, nodes *on, const cudaGraphEdgeData **data, size_t *count),
           (stream, status, id, graph, on, data, count))
OLDER_FORM(cudaStreamGetCaptureInfo_v3_ptsz, cudaStreamGetCaptureInfo_ptsz,
           (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
            cudaGraph_t *graph, nodes *on, const cudaGraphEdgeData **data, size_t *count),
           (stream, status, id, graph, on, data, count))
OLDER_FORMS(cudaMemcpyBatchAsync, cudaMemcpyBatchAsync,
            (void *const *to, const void *const *from, const size_t *bytes, size_t count,
             struct cudaMemcpyAttributes *attributes, size_t *first, size_t attribute_count,
             size_t *failed, cudaStream_t stream),
            (failed ? (*failed = (size_t)-1, to) : to, from, bytes, count, attributes, first,
             attribute_count, stream))

/* ---- names that CUDA 13 has no more ---- */

NEWER(cudaEventElapsedTime)
NEWER(cudaDeviceReset)
NEWER(cudaDeviceSynchronize)
NEWER(cudaDeviceSetLimit)
NEWER(cudaDeviceGetLimit)
NEWER(cudaDeviceSetCacheConfig)
NEWER(cudaDeviceGetCacheConfig)
OLDER_FORM(cudaEventElapsedTime_v2, cudaEventElapsedTime,
           (float *ms, cudaEvent_t start, cudaEvent_t end), (ms, start, end))
OLDER_FORM(cudaThreadExit, cudaDeviceReset, (void), ())
OLDER_FORM(cudaThreadSynchronize, cudaDeviceSynchronize, (void), ())
OLDER_FORM(cudaThreadSetLimit, cudaDeviceSetLimit, (enum cudaLimit limit, size_t value),
           (limit, value))
OLDER_FORM(cudaThreadGetLimit, cudaDeviceGetLimit, (size_t * value, enum cudaLimit limit),
           (value, limit))
OLDER_FORM(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig, (enum cudaFuncCache config),
           (config))
OLDER_FORM(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig, (enum cudaFuncCache * config),
           (config))

#define REFUSED(name)                                                                              \
    OLDER(name, (void))                                                                            \
    {                                                                                              \
        return vgpu__refuse(cudaErrorNotSupported, #name,                                          \
                            "of CUDA 12 is not modelled by the virtual node; it answers "          \
                            "cudaErrorNotSupported (801) and does nothing");                       \
    }
REFUSED(cudaGetDeviceProperties) /* CUDA 11's structure */
REFUSED(cudaLaunchCooperativeKernelMultiDevice)
REFUSED(cudaSetDoubleForDevice)
REFUSED(cudaSetDoubleForHost)
REFUSED(cudaDeviceGetSharedMemConfig)
REFUSED(cudaDeviceSetSharedMemConfig)
REFUSED(cudaFuncSetSharedMemConfig)
