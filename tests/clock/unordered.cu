// SPDX-License-Identifier: MIT
// unordered.cu: two streams of GPU 1 that nothing orders, in a range that NVTX names, and within
// another one. A trace marks the finding, and numbers the streams as its message does.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

__global__ void fill(int *to)
{
    to[threadIdx.x] = 1;
}

__global__ void sum(int *to, const int *from)
{
    atomicAdd(to, from[threadIdx.x]);
}

int main()
{
    cudaStream_t stream[3];
    int *x, *y;
    cudaError_t error = cudaSetDevice(1);
    for (cudaStream_t &made : stream)
        error = error ? error : cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    error = error ? error : cudaMalloc(&x, 64 * sizeof *x);
    error = error ? error : cudaMalloc(&y, sizeof *y);
    error = error ? error : cudaMemset(x, 0, 64 * sizeof *x);
    error = error ? error : cudaMemset(y, 0, sizeof *y);
    error = error ? error : cudaDeviceSynchronize();
    nvtxRangePushA("step");
    nvtxRangePushA("launch");
    fill<<<1, 64, 0, stream[1]>>>(x);
    sum<<<1, 64, 0, stream[2]>>>(y, x);
    nvtxRangePop();
    error = error ? error : cudaDeviceSynchronize();
    nvtxRangePop();
    return error != cudaSuccess;
}
