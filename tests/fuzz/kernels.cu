// SPDX-License-Identifier: MIT
// kernels.cu: the kernels and the variable of random programs.
#include "fuzz.h"

#define AT (blockIdx.x * blockDim.x + threadIdx.x)

__device__ int variable[256];

__global__ static void fill(int *dst, int n, int value)
{
    for (int i = AT; i < n; i += gridDim.x * blockDim.x)
        dst[i] = value + i;
}

__global__ static void add(int *dst, const int *src, int n)
{
    for (int i = AT; i < n; i += gridDim.x * blockDim.x)
        dst[i] += src[i];
}

__global__ static void gather(int *dst, const int *src, int n)
{
    for (int i = AT; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&dst[i % 3], src[i]);
}

__global__ static void slow(int *dst, int n, int value)
{
    for (long long start = clock64(); clock64() - start < 40000;)
        ;
    for (int i = AT; i < n; i += gridDim.x * blockDim.x)
        dst[i] = value - i;
}

__global__ static void trap()
{
    __trap();
}

cudaError_t fuzz_launch(int kernel, int grid, int block, int shared, int *dst, const int *src,
                        int n, int value, cudaStream_t stream)
{
    void *with_value[] = {&dst, &n, &value}, *with_source[] = {&dst, &src, &n};
    const void *functions[KERNELS] = {(const void *)fill, (const void *)add, (const void *)gather,
                                      (const void *)slow};
    bool values = kernel == KERNEL_FILL || kernel == KERNEL_SLOW;
    return cudaLaunchKernel(functions[kernel], dim3(grid), dim3(block),
                            values ? with_value : with_source, shared, stream);
}

cudaError_t fuzz_trap(void)
{
    trap<<<1, 1>>>();
    return cudaPeekAtLastError();
}

cudaError_t fuzz_to_symbol(const void *from, size_t bytes, size_t off, int kind)
{
    return cudaMemcpyToSymbol(variable, from, bytes, off, (cudaMemcpyKind)kind);
}

cudaError_t fuzz_from_symbol(void *to, size_t bytes, size_t off, int kind)
{
    return cudaMemcpyFromSymbol(to, variable, bytes, off, (cudaMemcpyKind)kind);
}
