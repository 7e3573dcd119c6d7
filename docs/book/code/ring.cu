// SPDX-License-Identifier: MIT
// ring.cu: all-reduce over all GPUs, by a root and by a ring, beside the bound.
#include <stdio.h>

#include "check.h"

#define MOST 16
#define RATE 395.0 // GB/s: a peer copy between two H200s (timing.txt)

static int gpus;
static float *data[MOST], *inbox[MOST];
static cudaStream_t stream[MOST];
static cudaEvent_t sent[MOST], added[MOST];

__global__ void add(float *mine, const float *theirs, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine[i] += theirs[i];
}

static void send(int from, float *to, const float *what, size_t n)
{
    CHECK(cudaSetDevice(from));
    CHECK(cudaMemcpyAsync(to, what, n * sizeof *to, cudaMemcpyDefault, stream[from]));
    CHECK(cudaEventRecord(sent[from], stream[from]));
}

static void take(int rank, float *mine, const float *theirs, size_t n, int from)
{
    CHECK(cudaSetDevice(rank));
    CHECK(cudaStreamWaitEvent(stream[rank], sent[from], 0));
    add<<<128, 256, 0, stream[rank]>>>(mine, theirs, n);
    CHECK(cudaEventRecord(added[rank], stream[rank]));
}

// book: ring
static int around(int rank)
{
    return (rank + 2 * gpus) % gpus;
}

static void ring(size_t n)
{
    size_t chunk = n / gpus;
    for (int step = 0; step < gpus - 1; step++) { // reduce-scatter
        for (int r = 0; r < gpus; r++) {
            CHECK(cudaStreamWaitEvent(stream[r], added[around(r + 1)], 0)); // its inbox is free
            send(r, inbox[around(r + 1)], data[r] + around(r - 1 - step) * chunk, chunk);
        }
        for (int r = 0; r < gpus; r++)
            take(r, data[r] + around(r - 2 - step) * chunk, inbox[r], chunk, around(r - 1));
    }
    for (int step = 0; step < gpus - 1; step++) { // all-gather
        for (int r = 0; r < gpus; r++) {
            size_t at = around(r - step) * chunk;
            send(r, data[around(r + 1)] + at, data[r] + at, chunk);
        }
        for (int r = 0; r < gpus; r++)
            CHECK(cudaStreamWaitEvent(stream[r], sent[around(r - 1)], 0)); // before passing it on
    }
}
// book: end

static void naive(size_t n)
{
    for (int r = 1; r < gpus; r++) {
        CHECK(cudaStreamWaitEvent(stream[r], added[0], 0));
        send(r, inbox[0], data[r], n);
        take(0, data[0], inbox[0], n, r);
    }
    for (int r = 1; r < gpus; r++)
        send(0, data[r], data[0], n);
}

static void fill(size_t n)
{
    float *host = (float *)malloc(n * sizeof *host);
    for (int r = 0; r < gpus; r++) {
        for (size_t i = 0; i < n; i++)
            host[i] = (float)((i + 3 * r) % 17);
        CHECK(cudaMemcpy(data[r], host, n * sizeof *host, cudaMemcpyDefault));
    }
    free(host);
}

// Every element on every GPU.
static int is_right(size_t n)
{
    float *host = (float *)malloc(n * sizeof *host);
    size_t wrong = 0;
    for (int r = 0; r < gpus; r++) {
        CHECK(cudaMemcpy(host, data[r], n * sizeof *host, cudaMemcpyDefault));
        for (size_t i = 0; i < n; i++) {
            float want = 0;
            for (int k = 0; k < gpus; k++)
                want += (float)((i + 3 * k) % 17);
            wrong += host[i] != want;
        }
    }
    free(host);
    return wrong == 0;
}

// Microseconds on GPU 0's clock, until all are done; negative when the sums are wrong.
static double timed(void (*all_reduce)(size_t), size_t n)
{
    cudaEvent_t start, stop, done;
    float ms;
    fill(n);
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, stream[0]));
    all_reduce(n);
    for (int r = 1; r < gpus; r++) {
        CHECK(cudaSetDevice(r));
        CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
        CHECK(cudaEventRecord(done, stream[r]));
        CHECK(cudaStreamWaitEvent(stream[0], done, 0));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventRecord(stop, stream[0]));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    return is_right(n) ? ms * 1000 : -1;
}

static void set_up(size_t most)
{
    for (int r = 0; r < gpus; r++) {
        CHECK(cudaSetDevice(r));
        CHECK(cudaMalloc((void **)&data[r], most * sizeof(float)));
        CHECK(cudaMalloc((void **)&inbox[r], most * sizeof(float)));
        CHECK(cudaStreamCreateWithFlags(&stream[r], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&sent[r], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&added[r], cudaEventDisableTiming));
        for (int other = 0; other < gpus; other++)
            if (other != r)
                CHECK(cudaDeviceEnablePeerAccess(other, 0));
    }
}

int main(void)
{
    const size_t sizes[] = {4096, 4 << 20, 32 << 20, 128 << 20};
    CHECK(cudaGetDeviceCount(&gpus));
    set_up(sizes[3] / sizeof(float));
    printf("%d GPUs\n    bytes   naive us    ring us   bound us\n", gpus);
    for (int i = 0; i < 4; i++) {
        size_t n = sizes[i] / sizeof(float);
        double bound = 2.0 * (gpus - 1) / gpus * (double)sizes[i] / RATE / 1000;
        printf("%9zu %10.1f %10.1f %10.1f\n", sizes[i], timed(naive, n), timed(ring, n), bound);
    }
    return 0;
}
