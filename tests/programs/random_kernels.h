/* SPDX-License-Identifier: MIT
 * random_kernels.h: what the programs that random_kernels.py writes begin with: functions that
 * their kernels use, and RUN, which launches one and prints what came of it.
 */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace cg = cooperative_groups;

struct Pair {
    int x;
    float y;
};
static __device__ float4 operator+(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y - b.y, a.z * b.z, a.w);
}
static __device__ Pair operator+(Pair a, Pair b)
{
    Pair p = {a.x + b.x, a.y * b.y};
    return p;
}
template <class T> __device__ T twice(T v)
{
    return v + v;
}
template <class T> __device__ bool positive(T v)
{
    return v > 0;
}
static __device__ bool positive(float4 v)
{
    return v.y > 0.25f;
}
static __device__ bool positive(Pair v)
{
    return v.x > 3;
}
template <class T> __device__ int whole(T v)
{
    return (int)v;
}
static __device__ int whole(float4 v)
{
    return (int)(v.x * 8);
}
static __device__ int whole(Pair v)
{
    return v.x;
}

static unsigned char *host;

template <class T> struct Pack {
    T *out;
    const T *a, *b;
    int n, m, w;
    T more[4];
};
template <class T> Pack<T> packed(T *out, const T *a, const T *b, int n, int m, int w)
{
    Pack<T> p = {out, a, b, n, m, w, {}};
    memcpy(p.more, host, sizeof p.more);
    return p;
}
#define PLAIN(...) __VA_ARGS__

/* GPUs 0 and 1 use each other's memory, and none that of GPU 2. */
static void start(void)
{
    host = (unsigned char *)malloc(64 << 20);
    for (int d = 1; d >= 0; d--) {
        cudaSetDevice(d);
        cudaDeviceEnablePeerAccess(1 - d, 0);
    }
}

enum { PINNED = 2, MANAGED, UNREACHABLE };

static void *make(size_t bytes, int where)
{
    void *p = NULL;
    if (where == PINNED)
        cudaMallocHost(&p, bytes);
    else if (where == MANAGED)
        cudaMallocManaged(&p, bytes);
    else {
        cudaSetDevice(where == UNREACHABLE ? 2 : where);
        cudaMalloc(&p, bytes);
        cudaSetDevice(0);
    }
    return p;
}
static void unmake(void *p, int where)
{
    if (where == PINNED)
        cudaFreeHost(p);
    else
        cudaFree(p);
}
/* Of the GPUs of `devices`, which nothing orders. */
static cudaError_t wait_for(int devices)
{
    cudaError_t first = cudaSuccess;
    for (int d = 1; d >= 0; d--) {
        cudaSetDevice(d);
        cudaError_t error = devices >> d & 1 ? cudaDeviceSynchronize() : cudaSuccess;
        first = first ? first : error;
    }
    return first;
}
static void fill(void *p, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes / 4; i++) {
        seed = seed * 1664525u + 1013904223u;
        float f = (float)(seed >> 20) / 4096.0f; /* as whole numbers, too, no NaN */
        memcpy(host + 4 * i, &f, 4);
        if (i % 3 == 0)
            host[4 * i + 3] &= 0x3f;
    }
    cudaMemcpy(p, host, bytes, cudaMemcpyDefault);
}
static unsigned long long sum(const void *p, size_t bytes)
{
    unsigned long long s = 1469598103934665603ull;
    if (cudaMemcpy(host, p, bytes, cudaMemcpyDefault) != cudaSuccess)
        return 0;
    for (size_t i = 0; i < bytes; i++)
        s = (s ^ host[i]) * 1099511628211ull;
    return s;
}
#define RUN(number, ARGUMENTS, T, n, WHERE_OUT, WHERE_A, WHERE_B, DEVICES, GRID, BLOCK, SHIFT, B,  \
            SHARED, ...)                                                                           \
    if (wanted(argc, argv, number)) {                                                              \
        size_t bytes = (size_t)(n) * sizeof(T);                                                    \
        T *out = (T *)make(bytes, WHERE_OUT), *a = (T *)make(bytes, WHERE_A),                      \
          *b = (T *)make(bytes, WHERE_B);                                                          \
        fill(out, bytes, number);                                                                  \
        fill(a, bytes, number + 1);                                                                \
        fill(b, bytes, number + 2);                                                                \
        cudaEvent_t begin[2], end[2];                                                              \
        cudaError_t launched = cudaSuccess;                                                        \
        float ms[2] = {-1, -1};                                                                    \
        for (int d = 0; d < 2; d++)                                                                \
            if ((DEVICES) >> d & 1) {                                                              \
                cudaSetDevice(d);                                                                  \
                cudaEventCreate(&begin[d]);                                                        \
                cudaEventCreate(&end[d]);                                                          \
                cudaEventRecord(begin[d]);                                                         \
                k##number<<<GRID, BLOCK, SHARED>>>(                                                \
                    ARGUMENTS(out, (const T *)((const char *)a + (SHIFT)), B, __VA_ARGS__));       \
                launched = launched ? launched : cudaGetLastError();                               \
                cudaEventRecord(end[d]);                                                           \
            }                                                                                      \
        cudaError_t ran = wait_for(DEVICES);                                                       \
        for (int d = 0; d < 2; d++)                                                                \
            if ((DEVICES) >> d & 1)                                                                \
                cudaEventElapsedTime(&ms[d], begin[d], end[d]);                                    \
        printf("%d: %d %d %.9g %.9g %llx %llx\n", number, launched, ran, ms[0], ms[1],             \
               sum(out, bytes), sum(a, bytes));                                                    \
        if (cudaGetLastError() != cudaSuccess || ran != cudaSuccess)                               \
            return 1;                                                                              \
        unmake(out, WHERE_OUT);                                                                    \
        unmake(a, WHERE_A);                                                                        \
        unmake(b, WHERE_B);                                                                        \
    }
static bool wanted(int argc, char **argv, int number)
{
    for (int i = 1; i < argc; i++)
        if (atoi(argv[i]) == number)
            return true;
    return argc == 1;
}
