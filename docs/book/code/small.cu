// SPDX-License-Identifier: MIT
// small.cu: the same work on one GPU and on all, for several sizes; data lies on GPU 0 at first.
#include <stdio.h>

#include "check.h"

#define MOST 16

__global__ void work(float *x, size_t n, int passes)
{
    for (int pass = 0; pass < passes; pass++)
        for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            x[i] = x[i] / 2 + 1;
}

static int gpus;
static float *whole, *part[MOST];
static cudaStream_t stream[MOST]; // a copy between GPUs in a default stream would wait for both

// book: small
static void on_one(size_t n, int passes)
{
    work<<<64, 256>>>(whole, n, passes);
}

static void on_all(size_t n, int passes)
{
    size_t each = n / gpus, bytes = each * sizeof *whole;
    for (int i = 0; i < gpus; i++) { // a part goes out, is worked on, and comes back: one stream
        cudaStream_t s = stream[i];
        CHECK(cudaSetDevice(i));
        if (i > 0)
            CHECK(cudaMemcpyAsync(part[i], whole + i * each, bytes, cudaMemcpyDefault, s));
        work<<<64, 256, 0, s>>>(i ? part[i] : whole, each, passes);
        if (i > 0)
            CHECK(cudaMemcpyAsync(whole + i * each, part[i], bytes, cudaMemcpyDefault, s));
    }
}
// book: end

static float timed(void (*run)(size_t, int), size_t n)
{
    cudaEvent_t start, stop;
    float ms;
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, 0));
    run(n, 16);
    for (int i = gpus - 1; i >= 0; i--) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    return ms * 1000;
}

int main(void)
{
    const size_t most = (size_t)4 << 20;
    CHECK(cudaGetDeviceCount(&gpus));
    for (int i = gpus - 1; i >= 0; i--) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaMalloc((void **)(i ? &part[i] : &whole), most * sizeof *whole));
        CHECK(cudaMemset(i ? part[i] : whole, 0, most * sizeof *whole));
        CHECK(cudaDeviceSynchronize()); // the other GPUs' streams do not wait for it
        CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
        for (int other = 0; other < gpus; other++)
            if (other != i)
                CHECK(cudaDeviceEnablePeerAccess(other, 0));
    }
    printf("elements    one GPU     %d GPUs\n", gpus);
    for (size_t n = 1024; n <= most; n *= 16)
        printf("%8zu %7.1f us %7.1f us\n", n, timed(on_one, n), timed(on_all, n));
    return 0;
}
