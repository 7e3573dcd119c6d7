// SPDX-License-Identifier: MIT
// both.cu: 64 MiB each way between two GPUs, one after the other and at once.
#include "../check.h"

#define BYTES ((size_t)64 << 20)

static char *data[2], *inbox[2];
static cudaStream_t stream[2];

// book: both
// The second copy in the given stream; the first one is in stream 0.
static float milliseconds(cudaStream_t second)
{
    cudaEvent_t start, done, stop;
    float ms;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&done));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, stream[0]));
    CHECK(cudaStreamWaitEvent(second, start, 0));
    CHECK(cudaMemcpyAsync(inbox[1], data[0], BYTES, cudaMemcpyDefault, stream[0]));
    CHECK(cudaMemcpyAsync(inbox[0], data[1], BYTES, cudaMemcpyDefault, second));
    CHECK(cudaEventRecord(done, second));
    CHECK(cudaStreamWaitEvent(stream[0], done, 0));
    CHECK(cudaEventRecord(stop, stream[0]));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    // book: end
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaEventDestroy(stop));
    return ms;
}

int main(void)
{
    for (int g = 0; g < 2; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaMalloc((void **)&data[g], BYTES));
        CHECK(cudaMalloc((void **)&inbox[g], BYTES));
        CHECK(cudaDeviceEnablePeerAccess(1 - g, 0));
    }
    CHECK(cudaSetDevice(0));
    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
    printf("one stream   %.2f ms\n", milliseconds(stream[0]));
    printf("two streams  %.2f ms\n", milliseconds(stream[1]));
    return 0;
}
