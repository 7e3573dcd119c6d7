// SPDX-License-Identifier: MIT
// sum.cu: a sum over all GPUs: all started before any is waited for, and one after the other.
#include <stdio.h>
#include <string.h>

#include "check.h"

#define MOST 16
#define PASSES 16 // over the data, so that there is something to wait for

__global__ void sum_part(const float *in, size_t n, double *out)
{
    __shared__ double part[256];
    double mine = 0;
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = threadIdx.x; i < n; i += blockDim.x)
            mine += in[i];
    part[threadIdx.x] = mine / PASSES;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *out = part[0];
}

// book: split
static size_t first_of(size_t n, int parts, int i)
{
    size_t each = n / parts, more = n % parts;
    return i * each + ((size_t)i < more ? (size_t)i : more);
}
// book: end

static float *in[MOST];
static double *out[MOST];
static size_t count[MOST];

// book: sum
static double sum(int gpus, int wait_each)
{
    double total = 0, part;
    for (int i = 0; i < gpus; i++) { // start all
        CHECK(cudaSetDevice(i));
        sum_part<<<1, 256>>>(in[i], count[i], out[i]);
        if (wait_each)
            CHECK(cudaDeviceSynchronize()); // the mistake
    }
    for (int i = 0; i < gpus; i++) { // then wait, and combine in this order
        CHECK(cudaSetDevice(i));
        CHECK(cudaMemcpy(&part, out[i], sizeof part, cudaMemcpyDefault));
        total += part;
    }
    return total;
}
// book: end

// Milliseconds on the GPUs' clock, from before the first launch to after the last wait.
static float timed(int gpus, int wait_each, double *total)
{
    cudaEvent_t start, stop;
    float ms;
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, 0));
    *total = sum(gpus, wait_each);
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    return ms;
}

int main(void)
{
    const size_t n = ((size_t)4 << 20) + 3;
    float *host = (float *)malloc(n * sizeof *host);
    int gpus;
    double total;
    CHECK(cudaGetDeviceCount(&gpus));
    for (size_t i = 0; i < n; i++)
        host[i] = (float)(i % 1000);
    for (int i = 0; i < gpus; i++) {
        size_t first = first_of(n, gpus, i);
        count[i] = first_of(n, gpus, i + 1) - first;
        CHECK(cudaSetDevice(i));
        CHECK(cudaMalloc((void **)&in[i], count[i] * sizeof *host));
        CHECK(cudaMalloc((void **)&out[i], sizeof *out[i]));
        CHECK(cudaMemcpy(in[i], host + first, count[i] * sizeof *host, cudaMemcpyDefault));
    }
    for (int wait = 0; wait <= 1; wait++) {
        float ms = timed(gpus, wait, &total);
        printf("%-18s %.3f ms, sum %.0f\n", wait ? "waiting each time" : "all, then wait", ms,
               total);
    }
    free(host);
    return 0;
}
