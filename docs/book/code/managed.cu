// SPDX-License-Identifier: MIT
// managed.cu: one pointer for the host and all GPUs.
#include <stdio.h>

#include "check.h"

__global__ void add(int *p, int n, int value)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] += value;
}

int main(void)
{
    const int n = 1000;
    int *p, gpus;
    CHECK(cudaGetDeviceCount(&gpus));
    // book: managed
    CHECK(cudaMallocManaged((void **)&p, n * sizeof *p));
    for (int i = 0; i < n; i++)
        p[i] = i; // the host writes
    for (int gpu = 0; gpu < gpus; gpu++) {
        struct cudaMemLocation here = {cudaMemLocationTypeDevice, gpu};
        CHECK(cudaSetDevice(gpu));
        CHECK(cudaMemAdvise(p, n * sizeof *p, cudaMemAdviseSetAccessedBy, here));
        CHECK(cudaMemPrefetchAsync(p, n * sizeof *p, here, 0, 0));
        add<<<4, 256>>>(p, n, 10);
        CHECK(cudaDeviceSynchronize()); // before another GPU, or the host, touches it
    }
    printf("p[7] is %d after %d GPUs\n", p[7], gpus); // the host reads
    // book: end
    CHECK(cudaFree(p));
    return 0;
}
