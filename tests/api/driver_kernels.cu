/* SPDX-License-Identifier: MIT
 * driver_kernels.cu: kernels of this program, launched with cuLaunchKernel and cuLaunchKernelEx.
 */
#include <cstring>

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include "expect.h"

__global__ void add(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void ranks(int *out)
{
    __shared__ int mine;
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    mine = 10 * (int)cluster.block_rank();
    cluster.sync();
    out[blockIdx.x] = *cluster.map_shared_rank(&mine, ((int)cluster.block_rank() + 1) % 3);
    cluster.sync();
}

/* In clusters of three blocks, with arguments one by one and in a buffer. */
static void clusters(CUdeviceptr out)
{
    int got[6];
    cudaFunction_t function;
    CUlaunchAttribute size = {};
    CUlaunchConfig config = {6, 1, 1, 1, 1, 1, 0, NULL, &size, 1};
    size_t bytes = sizeof out;
    void *args[] = {&out}, *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &out,
                                       CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    size.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    size.value.clusterDim.x = 3;
    size.value.clusterDim.y = size.value.clusterDim.z = 1;
    OK(cudaGetFuncBySymbol(&function, ranks));
    for (int packed = 0; packed < 2; packed++) {
        OK(cuMemsetD32(out, 0, 6));
        OK(cuLaunchKernelEx(&config, function, packed ? NULL : args, packed ? extra : NULL));
        OK(cuMemcpyDtoH(got, out, sizeof got));
        for (int i = 0; i < 6; i++)
            EXPECT_IS(got[i], 10 * ((i + 1) % 3));
    }
    int count;
    OK(cuOccupancyMaxActiveClusters(&count, function, &config));
    EXPECT(count > 0);
    OK(cuOccupancyMaxPotentialClusterSize(&count, function, &config));
    EXPECT_IS(count, 8);
    EXPECT_IS(cuOccupancyMaxActiveClusters(&count, function, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_IS(cuOccupancyMaxActiveClusters(NULL, function, &config), CUDA_ERROR_INVALID_VALUE);
    EXPECT_IS(cuOccupancyMaxActiveClusters(&count, NULL, &config), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_IS(cuOccupancyMaxPotentialClusterSize(&count, NULL, &config), CUDA_ERROR_INVALID_HANDLE);
    config.numAttrs = 0;
    EXPECT_IS(cuOccupancyMaxActiveClusters(&count, function, &config),
              CUDA_ERROR_INVALID_CLUSTER_SIZE);
    config.numAttrs = 1;
    config.gridDimX = 7;
    EXPECT_IS(cuLaunchKernelEx(&config, function, args, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    EXPECT_IS(cuLaunchKernelEx(NULL, function, args, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void launch(CUfunction function, CUdeviceptr *p, int n)
{
    void *args[] = {&p[0], &p[1], &p[2], &n};
    OK(cuLaunchKernel(function, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    OK(cuCtxSynchronize());
}

/* The same, with the first of the attributes that it has. */
static void launch_configured(CUfunction function, CUdeviceptr *p, int n, unsigned int attributes)
{
    void *args[] = {&p[0], &p[1], &p[2], &n};
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    CUlaunchConfig config = {(n + 127u) / 128, 1, 1, 128, 1, 1, 0, NULL, &attribute, attributes};
    OK(cuLaunchKernelEx(&config, function, args, NULL));
    OK(cuCtxSynchronize());
}

int main()
{
    enum { N = 1000 };
    static int out[N];
    CUdeviceptr p[3];
    CUcontext context;
    cudaFunction_t function;
    cudaKernel_t kernel;
    CUfunction same;
    const char *name;
    int value;
    OK(cuInit(0));
    OK(cuCtxCreate(&context, NULL, 0, 1));
    for (CUdeviceptr &at : p)
        OK(cuMemAlloc(&at, sizeof out));
    OK(cuMemsetD32(p[0], 40, N));
    OK(cuMemsetD32(p[1], 2, N));
    OK(cudaGetFuncBySymbol(&function, add));
    launch(function, p, N);
    OK(cuMemcpyDtoH(out, p[2], sizeof out));
    for (int i = 0; i < N; i++)
        EXPECT_IS(out[i], 42);
    clusters(p[0]);
    OK(cudaGetKernel(&kernel, add));
    OK(cuKernelGetFunction(&same, kernel));
    OK(cuFuncGetName(&name, same));
    EXPECT(strstr(name, "add"));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, same));
    EXPECT_IS(value, 1024);
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0));
    EXPECT_IS(value, 1024);
    EXPECT_IS(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 99),
              CUDA_ERROR_INVALID_DEVICE);
    for (unsigned int attributes = 0; attributes < 2; attributes++) {
        OK(cuMemsetD32(p[2], 0, N));
        launch_configured(same, p, N, attributes);
        OK(cuMemcpyDtoH(out, p[2], sizeof out));
        EXPECT_IS(out[N - 1], 42);
    }
    EXPECT_IS(cuLaunchKernelEx(NULL, same, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_IS(cuLaunchKernel((CUfunction)&value, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
              CUDA_ERROR_INVALID_HANDLE);
    EXPECT_IS(cuLaunchKernel(same, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
              CUDA_ERROR_INVALID_VALUE);
    p[2] = 64; /* nobody's memory */
    void *args[] = {&p[0], &p[1], &p[2], &value};
    OK(cuLaunchKernel(same, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    EXPECT_IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cudaPeekAtLastError());
    return 0;
}
