/* SPDX-License-Identifier: MIT
 * nvtx3/nvToolsExtCuda.h: the same as nvToolsExtCudaRt.h for handles of the driver API.
 */
#ifndef NVTOOLSEXT_CUDA_V3
#define NVTOOLSEXT_CUDA_V3

#include "cuda.h"
#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDA 4

typedef enum nvtxResourceCUDAType_t {
    NVTX_RESOURCE_TYPE_CUDA_DEVICE = NVTX_RESOURCE_MAKE_TYPE(CUDA, 1),
    NVTX_RESOURCE_TYPE_CUDA_CONTEXT = NVTX_RESOURCE_MAKE_TYPE(CUDA, 2),
    NVTX_RESOURCE_TYPE_CUDA_STREAM = NVTX_RESOURCE_MAKE_TYPE(CUDA, 3),
    NVTX_RESOURCE_TYPE_CUDA_EVENT = NVTX_RESOURCE_MAKE_TYPE(CUDA, 4)
} nvtxResourceCUDAType_t;

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

VGPU_NVTX_NAME(nvtxNameCuDevice, CUdevice)
VGPU_NVTX_NAME(nvtxNameCuContext, CUcontext)
VGPU_NVTX_NAME(nvtxNameCuStream, CUstream)
VGPU_NVTX_NAME(nvtxNameCuEvent, CUevent)

#undef VGPU_NVTX_NAME

#ifdef UNICODE
#define nvtxNameCuDevice nvtxNameCuDeviceW
#define nvtxNameCuContext nvtxNameCuContextW
#define nvtxNameCuStream nvtxNameCuStreamW
#define nvtxNameCuEvent nvtxNameCuEventW
#else
#define nvtxNameCuDevice nvtxNameCuDeviceA
#define nvtxNameCuContext nvtxNameCuContextA
#define nvtxNameCuStream nvtxNameCuStreamA
#define nvtxNameCuEvent nvtxNameCuEventA
#endif

#endif
