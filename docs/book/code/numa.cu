// SPDX-License-Identifier: MIT
// numa.cu: pinned host memory of this process's socket, copied to each GPU.
#include <stdio.h>

#include "check.h"

int main(void)
{
    const size_t bytes = (size_t)64 << 20;
    void *host, *device;
    int gpus;
    CHECK(cudaGetDeviceCount(&gpus));
    CHECK(cudaMallocHost(&host, bytes));
    // book: numa
    for (int gpu = 0; gpu < gpus; gpu++) {
        cudaEvent_t start, stop;
        float ms;
        CHECK(cudaSetDevice(gpu));
        CHECK(cudaMalloc(&device, bytes));
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
        CHECK(cudaEventRecord(start, 0));
        CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyDefault, 0));
        CHECK(cudaEventRecord(stop, 0));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        printf("host memory to GPU %d: %4.1f GB/s\n", gpu, bytes / ms / 1e6);
        CHECK(cudaFree(device));
    }
    // book: end
    CHECK(cudaFreeHost(host));
    return 0;
}
