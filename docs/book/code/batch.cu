// SPDX-License-Identifier: MIT
// batch.cu: a thousand small rows to another GPU: one by one, and packed.
#include <stdio.h>

#include "check.h"

#define ROWS 1000
#define ROW ((size_t)1024)
#define PITCH ((size_t)4096) // between the rows' beginnings

__global__ void pack(const char *rows, char *packed)
{
    for (size_t i = threadIdx.x; i < ROW; i += blockDim.x)
        packed[blockIdx.x * ROW + i] = rows[blockIdx.x * PITCH + i];
}

static char *rows, *packed, *there;

// book: batch
static void one_by_one(void)
{
    for (size_t i = 0; i < ROWS; i++)
        CHECK(cudaMemcpyAsync(there + i * ROW, rows + i * PITCH, ROW, cudaMemcpyDefault, 0));
}

static void packed_first(void)
{
    pack<<<ROWS, 256>>>(rows, packed);
    CHECK(cudaMemcpyAsync(there, packed, ROWS * ROW, cudaMemcpyDefault, 0));
}
// book: end

static void report(const char *name, void (*send)(void))
{
    cudaEvent_t start, stop;
    float ms;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, 0));
    send();
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    printf("%-14s %7.1f us\n", name, ms * 1000);
}

int main(void)
{
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc((void **)&there, ROWS * ROW));
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaMalloc((void **)&rows, ROWS * PITCH));
    CHECK(cudaMalloc((void **)&packed, ROWS * ROW));
    CHECK(cudaMemset(rows, 1, ROWS * PITCH));
    CHECK(cudaDeviceSynchronize());
    report("one by one", one_by_one);
    report("packed first", packed_first);
    return 0;
}
