/* SPDX-License-Identifier: MIT
 * profiler.c: the calls that start and stop a profiler. There is no profiler; they succeed, as
 * CUDA's do when none is attached.
 */
#include "cuda_profiler_api.h"

#include "core.h"
#include "cudaProfiler.h"

cudaError_t cudaProfilerStart(void)
{
    vgpu__used(VGPU_FEATURE_profiling);
    return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

CUresult cuProfilerStart(void)
{
    vgpu__used(VGPU_FEATURE_profiling);
    return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}
