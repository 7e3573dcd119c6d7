// SPDX-License-Identifier: MIT
// traced.cu: a program with everything that a trace shows: kernels, copies of each kind on several
// streams of two GPUs, at once and one after the other, ordered by events. Prints how long four
// operations took by their events: the trace must say the same.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define N (1 << 20)
#define BYTES (N * sizeof(float))

static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}
#define CHECK(call) check(call, #call)

__global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += from[i];
}

struct Gpu {
    float *mine, *other;
    cudaStream_t work, copies;
    cudaEvent_t begin, end, from, to, ready;
};

static Gpu make(int device)
{
    Gpu g;
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceEnablePeerAccess(1 - device, 0));
    CHECK(cudaMalloc(&g.mine, BYTES));
    CHECK(cudaMalloc(&g.other, BYTES));
    CHECK(cudaStreamCreateWithFlags(&g.work, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&g.copies, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&g.begin));
    CHECK(cudaEventCreate(&g.end));
    CHECK(cudaEventCreate(&g.from));
    CHECK(cudaEventCreate(&g.to));
    CHECK(cudaEventCreate(&g.ready));
    return g;
}

static void say(const char *call, int device, cudaEvent_t from, cudaEvent_t to)
{
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, from, to));
    printf("%s %d %.9g\n", call, device, static_cast<double>(ms));
}

int main()
{
    Gpu gpu[2] = {make(0), make(1)};
    float *pinned;
    CHECK(cudaMallocHost(&pinned, BYTES));
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemsetAsync(gpu[d].mine, 0, BYTES, gpu[d].work));
        CHECK(cudaMemcpyAsync(gpu[d].other, pinned, BYTES, cudaMemcpyHostToDevice, gpu[d].work));
        add<<<N / 256, 256, 0, gpu[d].work>>>(gpu[d].mine, gpu[d].other, N);
        CHECK(cudaEventRecord(gpu[d].ready, gpu[d].work));
    }
    for (int d = 0; d < 2; d++) { // both directions at once, each when the other's kernel is done
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamWaitEvent(gpu[d].copies, gpu[1 - d].ready, 0));
        CHECK(cudaEventRecord(gpu[d].begin, gpu[d].copies));
        CHECK(cudaMemcpyPeerAsync(gpu[d].other, d, gpu[1 - d].mine, 1 - d, BYTES, gpu[d].copies));
        CHECK(cudaEventRecord(gpu[d].end, gpu[d].copies));
    }
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamWaitEvent(gpu[d].work, gpu[d].end, 0));
        add<<<N / 256, 256, 0, gpu[d].work>>>(gpu[d].mine, gpu[1 - d].mine, N); // over the link
        CHECK(cudaEventRecord(gpu[d].from, gpu[d].work));
        CHECK(cudaMemcpyAsync(pinned, gpu[d].mine, BYTES, cudaMemcpyDeviceToHost, gpu[d].work));
        CHECK(cudaEventRecord(gpu[d].to, gpu[d].work));
        CHECK(cudaDeviceSynchronize());
        say("cudaMemcpyPeerAsync", d, gpu[d].begin, gpu[d].end);
        say("cudaMemcpyAsync", d, gpu[d].from, gpu[d].to);
    }
    return 0;
}
