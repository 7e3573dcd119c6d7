/* SPDX-License-Identifier: MIT
 * profiler.c: where a profiler begins and ends to record. There is none that would: both succeed,
 * as CUDA's do without one.
 */
#include "cuda_profiler_api.h"

#include "cudaProfiler.h"

cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

CUresult cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}
