/* SPDX-License-Identifier: MIT
 * cuda12.h: the tests speak CUDA 13; under CUDA 12 (12.4 or newer) its calls are made of those that
 * are there. Nothing under CUDA 13, and on the virtual node, whose headers are CUDA 13's.
 *
 * Sources: "Deprecated List" and the pages of these functions in the CUDA Runtime and Driver API
 * references of 12.4 and 13.0. cudaStreamGetDevice and cuStreamGetDevice came with 12.8.
 */
#ifndef TESTS_CUDA12_H
#define TESTS_CUDA12_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#if CUDART_VERSION < 12040
#error "these tests need CUDA 12.4 or newer: install a newer CUDA Toolkit, or put it first in PATH"
#endif

#if CUDART_VERSION < 13000

/* Graph edges carry data: the second versions of these are CUDA 13's only ones. */
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#undef cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3

/* CUDA 13's has parameters for the context (here always NULL: none) before the flags. */
static inline CUresult cuda12_ctx_create(CUcontext *out, const void *none, unsigned flags,
                                         CUdevice device)
{
    return none == NULL ? cuCtxCreate_v2(out, flags, device) : CUDA_ERROR_NOT_SUPPORTED;
}
#undef cuCtxCreate
#define cuCtxCreate cuda12_ctx_create

#endif

#if CUDART_VERSION < 12080

/* The GPU of a stream is that of its context. */
static inline CUresult cuda12_stream_device(CUstream stream, CUdevice *device)
{
    CUcontext context;
    CUresult code = cuStreamGetCtx(stream, &context);
    if (code == CUDA_SUCCESS)
        code = cuCtxPushCurrent(context);
    if (code != CUDA_SUCCESS)
        return code;
    code = cuCtxGetDevice(device);
    cuCtxPopCurrent(&context);
    return code;
}
#define cuStreamGetDevice cuda12_stream_device

/* A wrong stream, or no place for the answer, is refused by a call that is there: the runtime keeps
 * its code as the last error. */
static inline cudaError_t cuda12_stream_gpu(cudaStream_t stream, int *device)
{
    unsigned flags;
    cudaError_t code = cudaStreamGetFlags(stream, device == NULL ? NULL : &flags);
    if (code != cudaSuccess)
        return code;
    CUdevice gpu;
    if (cuda12_stream_device(stream, &gpu) != CUDA_SUCCESS)
        return cudaErrorUnknown;
    *device = gpu;
    return cudaSuccess;
}
#define cudaStreamGetDevice cuda12_stream_gpu

#endif

#endif
