/* SPDX-License-Identifier: MIT
 * typed.cpp: the C++ forms of the calls find the C ones, with and without casts, and dim3 is what
 * launches expect. Kernels themselves are tested with vgpu-cc.
 */
#include <type_traits>

#include <cuda_runtime.h>

#include "expect.h"

static_assert(std::is_trivially_copyable<dim3>::value && sizeof(dim3) == 12, "dim3 is three words");
static_assert(sizeof(float4) == 16 && alignof(float4) == 16, "float4 is one access");
static_assert(dim3(7).y == 1 && dim3(uint3{1, 2, 3}).z == 3, "what is not given is 1");

static void not_a_kernel(int) {}

int main()
{
    float *f, *mapped;
    double *pinned;
    void *v;
    size_t pitch;
    cudaEvent_t event;
    cudaFuncAttributes attributes;
    int blocks, not_a_variable = 0;
    OK(cudaMalloc(&f, 64));
    OK(cudaMalloc((void **)&v, 64));
    OK(cudaMallocHost(&pinned, 64));
    OK(cudaMallocHost((void **)&v, 64));
    OK(cudaHostAlloc(&mapped, 64, cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer(&f, mapped, 0));
    EXPECT(f == mapped);
    OK(cudaMallocPitch(&f, &pitch, 10, 10));
    OK(cudaEventCreate(&event, cudaEventDisableTiming));
    OK(cudaEventRecord(event));
    OK(cudaMallocManaged(&f, 64));
    f[15] = 1;
    OK(cudaFree(f));
    OK(cudaStreamWaitEvent(0, event));
    EXPECT_IS(make_float4(1, 2, 3, 4).w, 4);
    float *to[] = {mapped, mapped + 4};
    const double *from[] = {pinned, pinned + 1};
    size_t bytes[] = {8, 8}, first[] = {0};
    cudaMemcpyAttributes order = {};
    order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    OK(cudaMemcpyBatchAsync(to, from, bytes, 2, order, cudaStreamPerThread));
    OK(cudaMemcpyBatchAsync(to, from, bytes, 2, &order, first, 1, cudaStreamPerThread));
    EXPECT_IS(cudaFuncGetAttributes(&attributes, not_a_kernel), cudaErrorInvalidResourceHandle);
    EXPECT_IS(cudaFuncSetAttribute(not_a_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1),
              cudaErrorInvalidResourceHandle);
    EXPECT_IS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, not_a_kernel, 32, 0),
              cudaErrorInvalidResourceHandle);
    EXPECT_IS(cudaLaunchKernel(not_a_kernel, dim3(1), dim3(1), nullptr),
              cudaErrorInvalidResourceHandle);
    EXPECT_IS(cudaMemcpyToSymbol(not_a_variable, pinned, 4), cudaErrorInvalidSymbol);
    struct counted {
        int *ended;
        ~counted()
        {
            ++*ended;
        }
    };
    int ended = 0;
    cudaUserObject_t object;
    OK(cudaUserObjectCreate(&object, new counted{&ended}, 1, cudaUserObjectNoDestructorSync));
    OK(cudaUserObjectRetain(object));
    OK(cudaUserObjectRelease(object));
    EXPECT_IS(ended, 0);
    OK(cudaUserObjectRelease(object));
    EXPECT_IS(ended, 1);
    cudaLaunchConfig_t config = {};
    EXPECT_IS(cudaOccupancyMaxActiveClusters(&blocks, not_a_kernel, &config),
              cudaErrorInvalidResourceHandle);
    EXPECT_IS(cudaOccupancyMaxPotentialClusterSize(&blocks, not_a_kernel, &config),
              cudaErrorInvalidResourceHandle);
    EXPECT_IS(cudaGraphDebugDotPrint(nullptr, nullptr, 0), cudaErrorNotSupported);
    EXPECT_IS(cudaGetLastError(), cudaErrorNotSupported);
    EXPECT_IS(cudaGetLastError(), cudaSuccess);
    return 0;
}
