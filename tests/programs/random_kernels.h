/* SPDX-License-Identifier: MIT
 * random_kernels.h: what the programs that random_kernels.py writes begin with: functions that
 * their kernels use, and RUN, which launches one and prints what came of it.
 */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

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

static void start(void)
{
    host = (unsigned char *)malloc(64 << 20);
    cudaSetDevice(0);
    cudaDeviceEnablePeerAccess(1, 0);
}

static void *make(size_t bytes, int where)
{
    void *p = NULL;
    if (where == 2)
        cudaMallocHost(&p, bytes);
    else {
        cudaSetDevice(where);
        cudaMalloc(&p, bytes);
        cudaSetDevice(0);
    }
    return p;
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
#define RUN(number, ARGUMENTS, T, n, WHERE_OUT, WHERE_A, WHERE_B, GRID, BLOCK, SHIFT, B, SHARED,   \
            ...)                                                                                   \
    if (wanted(argc, argv, number)) {                                                              \
        size_t bytes = (size_t)(n) * sizeof(T);                                                    \
        T *out = (T *)make(bytes, WHERE_OUT), *a = (T *)make(bytes, WHERE_A),                      \
          *b = (T *)make(bytes, WHERE_B);                                                          \
        fill(out, bytes, number);                                                                  \
        fill(a, bytes, number + 1);                                                                \
        fill(b, bytes, number + 2);                                                                \
        cudaEvent_t e0, e1;                                                                        \
        cudaEventCreate(&e0);                                                                      \
        cudaEventCreate(&e1);                                                                      \
        cudaEventRecord(e0);                                                                       \
        k##number<<<GRID, BLOCK, SHARED>>>(                                                        \
            ARGUMENTS(out, (const T *)((const char *)a + (SHIFT)), B, __VA_ARGS__));               \
        cudaError_t launched = cudaGetLastError();                                                 \
        cudaEventRecord(e1);                                                                       \
        cudaError_t ran = cudaDeviceSynchronize();                                                 \
        float ms = -1;                                                                             \
        cudaEventElapsedTime(&ms, e0, e1);                                                         \
        printf("%d: %d %d %.9g %llx %llx\n", number, launched, ran, ms, sum(out, bytes),           \
               sum(a, bytes));                                                                     \
        if (cudaGetLastError() != cudaSuccess || ran != cudaSuccess)                               \
            return 1;                                                                              \
        if (WHERE_OUT == 2)                                                                        \
            cudaFreeHost(out);                                                                     \
        else                                                                                       \
            cudaFree(out);                                                                         \
        if (WHERE_A == 2)                                                                          \
            cudaFreeHost(a);                                                                       \
        else                                                                                       \
            cudaFree(a);                                                                           \
        if (WHERE_B == 2)                                                                          \
            cudaFreeHost(b);                                                                       \
        else                                                                                       \
            cudaFree(b);                                                                           \
    }
static bool wanted(int argc, char **argv, int number)
{
    for (int i = 1; i < argc; i++)
        if (atoi(argv[i]) == number)
            return true;
    return argc == 1;
}
