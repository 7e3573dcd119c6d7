/* SPDX-License-Identifier: MIT
 * nvtx3/nvToolsExtCudaRt.h: names of streams, events and devices for a profiler; taken and
 * forgotten.
 */
#ifndef NVTOOLSEXT_CUDART_V3
#define NVTOOLSEXT_CUDART_V3

#include "cuda_runtime_api.h"
#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDART 5

typedef enum nvtxResourceCUDARTType_t {
    NVTX_RESOURCE_TYPE_CUDART_DEVICE = NVTX_RESOURCE_MAKE_TYPE(CUDART, 0),
    NVTX_RESOURCE_TYPE_CUDART_STREAM = NVTX_RESOURCE_MAKE_TYPE(CUDART, 1),
    NVTX_RESOURCE_TYPE_CUDART_EVENT = NVTX_RESOURCE_MAKE_TYPE(CUDART, 2)
} nvtxResourceCUDARTType_t;

/* The name in both kinds of characters. */
#define VGPU_NVTX_NAME(call, type)                                                                 \
    NVTX_INLINE_STATIC void call##A(type object, const char *name)                                 \
    {                                                                                              \
        (void)object, (void)name;                                                                  \
    }                                                                                              \
    NVTX_INLINE_STATIC void call##W(type object, const wchar_t *name)                              \
    {                                                                                              \
        (void)object, (void)name;                                                                  \
    }

VGPU_NVTX_NAME(nvtxNameCudaDevice, int)
VGPU_NVTX_NAME(nvtxNameCudaStream, cudaStream_t)
VGPU_NVTX_NAME(nvtxNameCudaEvent, cudaEvent_t)

#undef VGPU_NVTX_NAME

#ifdef UNICODE
#define nvtxNameCudaDevice nvtxNameCudaDeviceW
#define nvtxNameCudaStream nvtxNameCudaStreamW
#define nvtxNameCudaEvent nvtxNameCudaEventW
#else
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#endif

#endif
