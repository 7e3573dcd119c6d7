// SPDX-License-Identifier: MIT
// basics.cu: a kernel, its launch, two streams that overlap, and events that order and time them.
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define COUNT (1 << 24)
#define PIECES 8

// book: kernel
__global__ void add_one(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1.0f;
}
// book: end

static float *on_host, *on_gpu;

// book: launch
static void all_at_once(void)
{
    size_t bytes = COUNT * sizeof(float);
    CHECK(cudaMemcpy(on_gpu, on_host, bytes, cudaMemcpyHostToDevice));
    add_one<<<(COUNT + 255) / 256, 256>>>(on_gpu, COUNT);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(on_host, on_gpu, bytes, cudaMemcpyDeviceToHost));
}
// book: end

// book: streams
static void in_pieces(cudaStream_t *stream, int streams)
{
    int n = COUNT / PIECES;
    for (int piece = 0; piece < PIECES; piece++) {
        cudaStream_t mine = stream[piece % streams];
        float *host = on_host + piece * n, *gpu = on_gpu + piece * n;
        CHECK(cudaMemcpyAsync(gpu, host, n * sizeof(float), cudaMemcpyHostToDevice, mine));
        add_one<<<(n + 255) / 256, 256, 0, mine>>>(gpu, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(host, gpu, n * sizeof(float), cudaMemcpyDeviceToHost, mine));
    }
}
// book: end

// book: events
static float milliseconds(cudaStream_t *stream, int streams)
{
    cudaEvent_t start, other, stop;
    float ms;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&other));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, stream[0]));
    CHECK(cudaStreamWaitEvent(stream[1], start, 0)); // stream 1 begins after start
    in_pieces(stream, streams);
    CHECK(cudaEventRecord(other, stream[1]));
    CHECK(cudaStreamWaitEvent(stream[0], other, 0)); // stop comes after stream 1's work
    CHECK(cudaEventRecord(stop, stream[0]));
    CHECK(cudaEventSynchronize(stop)); // only here the host waits
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    // book: end
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(other));
    CHECK(cudaEventDestroy(stop));
    return ms;
}

int main(void)
{
    cudaStream_t stream[2];
    CHECK(cudaMallocHost((void **)&on_host, COUNT * sizeof(float)));
    CHECK(cudaMalloc((void **)&on_gpu, COUNT * sizeof(float)));
    for (int i = 0; i < COUNT; i++)
        on_host[i] = (float)(i % 1000);
    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
    all_at_once();
    printf("number 7 has become %g\n", on_host[7]);
    printf("one stream   %.2f ms\n", milliseconds(stream, 1));
    printf("two streams  %.2f ms\n", milliseconds(stream, 2));
    printf("number 7 has become %g\n", on_host[7]);
    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamDestroy(stream[i]));
    CHECK(cudaFree(on_gpu));
    CHECK(cudaFreeHost(on_host));
    return 0;
}
