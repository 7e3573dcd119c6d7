// SPDX-License-Identifier: MIT
// fit.cu: latency and bandwidth of the link from GPU 0 to GPU 1, from copies of two sizes; what
// they promise for a third size, and what it takes.
#include "../check.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

// Microseconds for one copy, the mean of 20 in a row.
static double copy_us(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    enum { TIMES = 20 };
    cudaEvent_t start, stop;
    float ms;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, stream));
    for (int i = 0; i < TIMES; i++)
        CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return ms * 1000 / TIMES;
}

// book: fit
struct link_model {
    double latency_us, bandwidth; // bandwidth: bytes in a microsecond
};

// The line through the times of two sizes.
static struct link_model fit(size_t small, double small_us, size_t large, double large_us)
{
    struct link_model found;
    found.bandwidth = (double)(large - small) / (large_us - small_us);
    found.latency_us = small_us - (double)small / found.bandwidth;
    return found;
}
// book: end

int main(void)
{
    const size_t small = 64 * KIB, large = 16 * MIB, third = 64 * MIB;
    cudaStream_t stream;
    void *here, *there;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&there, third));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&here, third));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    struct link_model link =
        fit(small, copy_us(there, here, small, stream), large, copy_us(there, here, large, stream));
    double half = link.latency_us * link.bandwidth;
    double promised = link.latency_us + (double)third / link.bandwidth;
    double took = copy_us(there, here, third, stream);
    printf("latency %.2f us, bandwidth %.1f GB/s, half of it at %.0f KB\n", link.latency_us,
           link.bandwidth / 1000, half / 1000);
    printf("64 MiB: %.1f us by the formula, %.1f us measured\n", promised, took);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(here));
    CHECK(cudaSetDevice(1));
    CHECK(cudaFree(there));
    return 0;
}
