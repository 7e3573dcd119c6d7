// SPDX-License-Identifier: MIT
// launch_ex.cu: launches by a configuration, and what occupancy says before, on every GPU.
#include "check.h"

__global__ void scale(float *values, int n, float by)
{
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? values[i] : 0;
    __syncthreads();
    if (i < n)
        values[i] = by * part[threadIdx.x];
}

__global__ void with_own(int *out)
{
    __shared__ int own[1000];
    own[threadIdx.x] = 1;
    __syncthreads();
    *out = own[0];
}

static cudaLaunchConfig_t configuration(int blocks, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(256);
    config.dynamicSmemBytes = 256 * sizeof(float);
    config.stream = stream;
    return config;
}

static void launches(int gpu)
{
    enum { N = 1024 };
    float *values, host[N];
    cudaStream_t stream;
    cudaLaunchAttribute attribute[2] = {};
    MUST(cudaSetDevice(gpu));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&values, sizeof host));
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    MUST(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    cudaLaunchConfig_t config = configuration(N / 256, stream);
    MUST(cudaLaunchKernelEx(&config, scale, values, N, 2)); // 2 becomes a float
    attribute[0].id = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 1;
    attribute[1].id = cudaLaunchAttributePriority;
    config.attrs = attribute;
    config.numAttrs = 2;
    MUST(cudaLaunchKernelEx(&config, scale, values, (int)N, 3.0f));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        HOLDS(host[i] == 6.0f * (float)i, "[%d] is %f", i, host[i]);
    config.gridDim = dim3(1 << 20);
    cudaError_t error = cudaLaunchKernelEx(&config, scale, values, (int)N, 1.0f);
    HOLDS(error == cudaErrorCooperativeLaunchTooLarge, "too large: %d", error);
    config = configuration(1, stream);
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = attribute[0].val.clusterDim.y = 2;
    attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    error = cudaLaunchKernelEx(&config, scale, values, (int)N, 1.0f);
    HOLDS(error == cudaErrorInvalidClusterSize, "clusters of 4 of a grid of 1: %d", error);
    error = cudaLaunchKernelExC(NULL, (const void *)scale, NULL);
    HOLDS(error == cudaErrorInvalidValue, "no configuration: %d", error);
    cudaGetLastError();
    MUST(cudaFree(values));
    MUST(cudaStreamDestroy(stream));
}

// As many blocks as were asked for fit with what is available, and not with more.
static void occupancy()
{
    size_t bytes;
    int fit, most;
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, with_own, 128, 0));
    for (int blocks = 1; blocks <= most; blocks *= 2) {
        MUST(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, with_own, blocks, 128));
        MUST(cudaFuncSetAttribute(with_own, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, with_own, 128, bytes));
        HOLDS(fit >= blocks, "%d blocks fit with %zu bytes, not %d", fit, bytes, blocks);
        MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, with_own, 128, bytes + 256));
        HOLDS(fit < blocks, "%d blocks fit with %zu bytes", fit, bytes + 256);
    }
    cudaError_t error = cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, with_own, 64, 1024);
    HOLDS(error == cudaErrorInvalidValue, "64 blocks of 1024: %d", error);
    cudaGetLastError();
}

int main(void)
{
    int gpus, device = -1, list[1];
    MUST(cudaGetDeviceCount(&gpus));
    list[0] = gpus - 1;
    MUST(cudaSetValidDevices(list, 1));
    MUST(cudaGetDevice(&device));
    HOLDS(device == gpus - 1, "device %d", device);
    list[0] = gpus;
    HOLDS(cudaSetValidDevices(list, 1) == cudaErrorInvalidDevice, "device %d", gpus);
    cudaDeviceProp wish = {};
    MUST(cudaGetDeviceProperties(&wish, 0));
    MUST(cudaChooseDevice(&device, &wish));
    HOLDS(device == 0, "chose %d", device);
    MUST(cudaSetDevice(device = gpus - 1)); // makes the context
    MUST(cudaCtxResetPersistingL2Cache());
    cudaGetLastError();
    for (int g = 0; g < gpus; g++)
        launches(g);
    occupancy();
    printf("launches by configuration on %d GPUs: right\n", gpus);
    return 0;
}
