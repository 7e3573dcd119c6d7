// SPDX-License-Identifier: MIT
// What the runtime knows of a kernel: its name, its __shared__ bytes, its launch bounds.
// prints: plain 0 1024
// prints: bounded 1056 128
// prints: a::generic 256 64
// prints: too many threads: invalid argument
#include <stdio.h>
#include <cuda_runtime.h>

__global__ void plain(int *) {}

__device__ __forceinline__ int helper(int n)
{
    __shared__ int in_helper[8];
    in_helper[threadIdx.x & 7] = n;
    return in_helper[0];
}

__global__ void __launch_bounds__(128) bounded(int *out)
{
    __shared__ int array[256];
    array[threadIdx.x] = 1;
    for (int i = 0; i < 4; i++)
        out[i] = helper(array[i]) + helper(i);
}

namespace a {
template <typename T, int N> __global__ void __launch_bounds__(N / 2, 1) generic(T *out)
{
    __shared__ T array[N / 4];
    array[0] = *out;
    *out = array[0] + 1;
}
}

template <typename K> void show(const char *name, K kernel)
{
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, kernel);
    printf("%s %d %d\n", name, (int)attributes.sharedSizeBytes, attributes.maxThreadsPerBlock);
}

int main()
{
    show("plain", plain);
    show("bounded", bounded);
    show("a::generic", a::generic<double, 128>);
    bounded<<<1, 256>>>(nullptr);
    printf("too many threads: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
