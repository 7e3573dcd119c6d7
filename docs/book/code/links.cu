// SPDX-License-Identifier: MIT
// links.cu: how much of a link transfers of several sizes get: GPU 0 to GPU 1, and to GPU 0 from
// pinned host memory.
#include <stdio.h>

#include "check.h"

// book: links
// Microseconds for one copy of `bytes`, the mean of many in a row.
static float copy_us(void *dst, const void *src, size_t bytes, int times)
{
    cudaEvent_t start, stop;
    float ms;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, 0));
    for (int i = 0; i < times; i++)
        CHECK(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, 0));
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return ms * 1000 / times;
}
// book: end

int main(void)
{
    const size_t most = (size_t)64 << 20;
    void *here, *there, *host;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&there, most));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&here, most));
    CHECK(cudaMallocHost(&host, most));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    printf("   bytes   GPU 0 to 1          host to GPU 0\n");
    for (size_t bytes = 1024; bytes <= most; bytes *= 16) {
        float peer = copy_us(there, here, bytes, 20), pinned = copy_us(here, host, bytes, 20);
        printf("%8zu %6.1f us %5.1f GB/s %6.1f us %5.1f GB/s\n", bytes, peer,
               (double)bytes / peer / 1000, pinned, (double)bytes / pinned / 1000);
    }
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(here));
    CHECK(cudaSetDevice(1));
    CHECK(cudaFree(there));
    return 0;
}
