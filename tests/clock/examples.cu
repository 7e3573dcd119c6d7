// SPDX-License-Identifier: MIT
// examples.cu: the two worked examples of the course's source material, measured on the machine
// instead of computed on paper: examples A, on the node `textbook-a100-2`; examples B [FLOATS], on
// `textbook-4`, whose rates are 1/256 of the source's, so that 2^22 floats stand for its 4 GB.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}
#define CHECK(call) check(call, #call)

enum { GPUS = 4, THREADS = 256, BLOCKS = 512 };

struct Gpu {
    char *memory;
    cudaStream_t stream;
    cudaEvent_t begin, end, sent;
};

static Gpu make(int device, size_t bytes)
{
    Gpu g;
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(&g.memory, bytes));
    CHECK(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&g.begin));
    CHECK(cudaEventCreate(&g.end));
    CHECK(cudaEventCreateWithFlags(&g.sent, cudaEventDisableTiming));
    return g;
}

static double milliseconds(cudaEvent_t begin, cudaEvent_t end)
{
    float ms = 0;
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return static_cast<double>(ms);
}

// ---- example A: 1 GB from one GPU to the other ----

static const size_t GB = 1000000000;

// Both ways at once, half of it each: this is what counting both directions means.
static double both_ways(const Gpu *g)
{
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventRecord(g[0].begin, g[0].stream));
    CHECK(cudaStreamWaitEvent(g[1].stream, g[0].begin, 0));
    CHECK(cudaMemcpyPeerAsync(g[1].memory, 1, g[0].memory, 0, GB / 2, g[0].stream));
    CHECK(
        cudaMemcpyPeerAsync(g[0].memory + GB / 2, 0, g[1].memory + GB / 2, 1, GB / 2, g[1].stream));
    CHECK(cudaSetDevice(1));
    CHECK(cudaEventRecord(g[1].sent, g[1].stream));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamWaitEvent(g[0].stream, g[1].sent, 0));
    CHECK(cudaEventRecord(g[0].end, g[0].stream));
    return milliseconds(g[0].begin, g[0].end);
}

static double one_way(const Gpu *g)
{
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventRecord(g[0].begin, g[0].stream));
    CHECK(cudaMemcpyPeerAsync(g[1].memory, 1, g[0].memory, 0, GB, g[0].stream));
    CHECK(cudaEventRecord(g[0].end, g[0].stream));
    return milliseconds(g[0].begin, g[0].end);
}

// Through host memory, `chunk` bytes at a time: GPU 0 puts one there while GPU 1 takes another.
static double through_host(const Gpu *g, char *host, size_t chunk)
{
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventRecord(g[0].begin, g[0].stream));
    for (size_t at = 0; at < GB; at += chunk) {
        size_t bytes = GB - at < chunk ? GB - at : chunk;
        CHECK(cudaMemcpyAsync(host + at, g[0].memory + at, bytes, cudaMemcpyDeviceToHost,
                              g[0].stream));
        CHECK(cudaEventRecord(g[0].sent, g[0].stream));
        CHECK(cudaStreamWaitEvent(g[1].stream, g[0].sent, 0));
        CHECK(cudaMemcpyAsync(g[1].memory + at, host + at, bytes, cudaMemcpyHostToDevice,
                              g[1].stream));
    }
    CHECK(cudaSetDevice(1));
    CHECK(cudaEventRecord(g[1].sent, g[1].stream));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamWaitEvent(g[0].stream, g[1].sent, 0));
    CHECK(cudaEventRecord(g[0].end, g[0].stream));
    return milliseconds(g[0].begin, g[0].end);
}

static void example_a()
{
    Gpu g[2] = {make(0, GB), make(1, GB)};
    char *host;
    CHECK(cudaMallocHost(&host, GB));
    printf("A.driver_through_host_ms %.4f\n", one_way(g)); // no peer access yet
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceEnablePeerAccess(1 - d, 0));
    }
    printf("A.nvlink_both_ways_ms %.4f\n", both_ways(g));
    printf("A.nvlink_one_way_ms %.4f\n", one_way(g));
    printf("A.host_one_hop_after_the_other_ms %.4f\n", through_host(g, host, GB));
    printf("A.host_pipelined_ms %.4f\n", through_host(g, host, 16000000));
}

// ---- example B: the sum of 1 G floats on 4 GPUs ----

// Each block leaves its partial sum in `partial`.
__global__ void sum(const float *x, size_t n, float *partial)
{
    __shared__ float part[THREADS];
    float mine = 0;
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < n;
         i += (size_t)BLOCKS * THREADS)
        mine += x[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = part[0];
}

// Brings the GPUs' sums together: reads its peers' memory.
__global__ void gather(const float *const *partial, int gpus, float *result)
{
    float all = 0;
    for (int g = 0; g < gpus; g++)
        all += partial[g][0];
    *result = all;
}

static double sum_on(Gpu *g, float **partial, const float **list, int gpus, size_t n)
{
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventRecord(g[0].begin, g[0].stream));
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        if (d > 0)
            CHECK(cudaStreamWaitEvent(g[d].stream, g[0].begin, 0));
        sum<<<BLOCKS, THREADS, 0, g[d].stream>>>(reinterpret_cast<float *>(g[d].memory), n / gpus,
                                                 partial[d]);
        CHECK(cudaEventRecord(g[d].sent, g[d].stream));
    }
    CHECK(cudaSetDevice(0));
    for (int d = 1; d < gpus; d++)
        CHECK(cudaStreamWaitEvent(g[0].stream, g[d].sent, 0));
    if (gpus > 1)
        gather<<<1, 1, 0, g[0].stream>>>(list, gpus, partial[0] + BLOCKS);
    CHECK(cudaEventRecord(g[0].end, g[0].stream));
    return milliseconds(g[0].begin, g[0].end);
}

static void example_b(size_t n)
{
    Gpu g[GPUS];
    float *partial[GPUS];
    const float **list;
    for (int d = 0; d < GPUS; d++) {
        g[d] = make(d, n * sizeof(float) / (d ? GPUS : 1));
        CHECK(cudaMemset(g[d].memory, 0, n * sizeof(float) / (d ? GPUS : 1)));
        CHECK(cudaMalloc(&partial[d], (BLOCKS + 1) * sizeof(float)));
        for (int other = 0; other < GPUS; other++)
            if (other != d)
                CHECK(cudaDeviceEnablePeerAccess(other, 0));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&list, sizeof partial));
    CHECK(cudaMemcpy(list, partial, sizeof partial, cudaMemcpyHostToDevice));
    double one = sum_on(g, partial, list, 1, n), four = sum_on(g, partial, list, GPUS, n);
    printf("B.one_gpu_ms %.4f\nB.four_gpus_ms %.4f\nB.speedup %.4f\n", one, four, one / four);
}

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] == 'A')
        example_a();
    else
        example_b(argc > 2 ? strtoull(argv[2], nullptr, 10) : 1 << 22);
    return 0;
}
