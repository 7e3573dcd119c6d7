// SPDX-License-Identifier: MIT
// collectives.cu: 64 MB from GPU 0 to all others: as a star, as a chain, as a chain of pieces.
#include <stdio.h>

#include "check.h"

#define MOST 16
#define BYTES ((size_t)64 << 20)

static int gpus;
static char *data[MOST];
static cudaStream_t stream[MOST];

// book: star
static void star(void)
{
    for (int to = 1; to < gpus; to++)
        CHECK(cudaMemcpyAsync(data[to], data[0], BYTES, cudaMemcpyDefault, stream[to]));
}
// book: end

// book: chain
// Stream r carries what arrives at rank r. A piece goes on when it has arrived.
static void chain(int pieces)
{
    for (int piece = 0; piece < pieces; piece++)
        for (int to = 1; to < gpus; to++) {
            cudaEvent_t arrived;
            size_t at = BYTES * piece / pieces, bytes = BYTES * (piece + 1) / pieces - at;
            CHECK(cudaSetDevice(to));
            CHECK(cudaMemcpyAsync(data[to] + at, data[to - 1] + at, bytes, cudaMemcpyDefault,
                                  stream[to]));
            CHECK(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
            CHECK(cudaEventRecord(arrived, stream[to]));
            if (to + 1 < gpus)
                CHECK(cudaStreamWaitEvent(stream[to + 1], arrived, 0));
            CHECK(cudaEventDestroy(arrived));
        }
}
// book: end

static void report(const char *name, int pieces)
{
    cudaEvent_t start, stop, done;
    float ms;
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, stream[0]));
    if (pieces)
        chain(pieces);
    else
        star();
    for (int r = 1; r < gpus; r++) {
        CHECK(cudaSetDevice(r));
        CHECK(cudaEventCreate(&done));
        CHECK(cudaEventRecord(done, stream[r]));
        CHECK(cudaStreamWaitEvent(stream[0], done, 0));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventRecord(stop, stream[0]));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    printf("%-22s %.3f ms\n", name, ms);
}

int main(void)
{
    CHECK(cudaGetDeviceCount(&gpus));
    for (int r = 0; r < gpus; r++) {
        CHECK(cudaSetDevice(r));
        CHECK(cudaMalloc((void **)&data[r], BYTES));
        CHECK(cudaMemset(data[r], r, BYTES));
        CHECK(cudaStreamCreateWithFlags(&stream[r], cudaStreamNonBlocking));
        for (int other = 0; other < gpus; other++)
            if (other != r)
                CHECK(cudaDeviceEnablePeerAccess(other, 0));
        CHECK(cudaDeviceSynchronize());
    }
    report("star", 0);
    report("chain, one piece", 1);
    report("chain, 4 pieces", 4);
    report("chain, 16 pieces", 16);
    report("chain, 1024 pieces", 1024);
    return 0;
}
