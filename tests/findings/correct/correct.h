/* SPDX-License-Identifier: MIT
 * correct.h: what the correct programs share. Each of them orders its work on all GPUs in a way of
 * its own, checks its own numbers, and gives everything back.
 */
#ifndef CORRECT_H
#define CORRECT_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(error_));                                                   \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

enum { N = 1000, GPUS = 8, BLOCK = 128, BLOCKS = (N + BLOCK - 1) / BLOCK };

static int gpus;

static inline void count_gpus(void)
{
    CHECK(cudaGetDeviceCount(&gpus));
}

static inline void each_pair(cudaError_t (*call)(int peer))
{
    for (int d = 0; d < gpus; d++)
        for (int peer = 0; peer < gpus; peer++)
            if (d != peer) {
                CHECK(cudaSetDevice(d));
                CHECK(call(peer));
            }
}

static inline cudaError_t peer_on(int peer)
{
    return cudaDeviceEnablePeerAccess(peer, 0);
}

static inline cudaError_t peer_off(int peer)
{
    return cudaDeviceDisablePeerAccess(peer);
}

/* All GPUs may use each other's memory. */
static inline void begin(void)
{
    count_gpus();
    each_pair(peer_on);
}

static inline int end(int wrong)
{
    each_pair(peer_off);
    if (wrong)
        printf("%d wrong\n", wrong);
    return wrong != 0;
}

static inline int *ints_on(int gpu, int count)
{
    int *p;
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMalloc((void **)&p, count * sizeof(int)));
    return p;
}

static inline int *zeros_on(int gpu, int count)
{
    int *p = ints_on(gpu, count);
    CHECK(cudaMemset(p, 0, count * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    return p;
}

static inline cudaStream_t stream_on(int gpu)
{
    cudaStream_t s;
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
}

static inline cudaEvent_t event_on(int gpu)
{
    cudaEvent_t e;
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    return e;
}

static inline void sync_all(void)
{
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
}

/* A GPU with a stream, an event and two buffers. */
struct gpu {
    cudaStream_t stream;
    cudaEvent_t done;
    int *a, *b;
};

static inline struct gpu make_gpu(int d)
{
    struct gpu g;
    g.stream = stream_on(d);
    g.done = event_on(d);
    g.a = zeros_on(d, N);
    g.b = zeros_on(d, N);
    return g;
}

static inline void free_gpu(int d, struct gpu *g)
{
    CHECK(cudaSetDevice(d));
    CHECK(cudaStreamDestroy(g->stream));
    CHECK(cudaEventDestroy(g->done));
    CHECK(cudaFree(g->a));
    CHECK(cudaFree(g->b));
}

/* How many of the N elements of device memory are not base, base + 1, ... The host has waited. */
static inline int wrong_from(const int *device, int base, int step)
{
    static int host[N];
    int wrong = 0;
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        wrong += host[i] != base + step * i;
    return wrong;
}

__device__ static inline int me(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ static void fill(int *to, int base)
{
    if (me() < N)
        to[me()] = base + me();
}

__global__ static void add(int *to, const int *from)
{
    if (me() < N)
        to[me()] += from[me()];
}

__global__ static void copy_plus(int *to, const int *from, int more)
{
    if (me() < N)
        to[me()] = from[me()] + more;
}

#endif
