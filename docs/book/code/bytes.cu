// SPDX-License-Identifier: MIT
// bytes.cu: 64 MB on four ways.
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define BYTES ((size_t)64 << 20)

static void report(const char *way, void *dst, const void *src)
{
    cudaEvent_t start, stop;
    float ms;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, 0));
    CHECK(cudaMemcpyAsync(dst, src, BYTES, cudaMemcpyDefault, 0));
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    printf("%-32s %6.2f ms  %5.1f GB/s\n", way, ms, BYTES / ms / 1e6);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
}

int main(void)
{
    void *a, *b, *pinned, *pageable = calloc(1, BYTES);
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&b, BYTES));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&a, BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    // book: paths
    report("GPU 0 to GPU 1, no peer access", b, a);
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    report("GPU 0 to GPU 1, peer access", b, a);
    report("pinned host memory to GPU 0", a, pinned);
    report("pageable host memory to GPU 0", a, pageable);
    // book: end
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFreeHost(pinned));
    free(pageable);
    return 0;
}
