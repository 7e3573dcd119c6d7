// SPDX-License-Identifier: MIT
// elements.h: what the collectives' kernels compute of two elements, and how many of them an access
// loads or stores.
#ifndef VGPU_NCCL_ELEMENTS_H
#define VGPU_NCCL_ELEMENTS_H

#include "work.h"
#include <nccl.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <type_traits>

// Of 8 bits: computed in float, each result rounded, and at most the largest finite number.
#define NCCL_COMPUTES_IN_FLOAT(T)                                                                  \
    __device__ T operator+(T a, T b)                                                               \
    {                                                                                              \
        return T((float)a + (float)b);                                                             \
    }                                                                                              \
    __device__ T operator*(T a, T b)                                                               \
    {                                                                                              \
        return T((float)a * (float)b);                                                             \
    }                                                                                              \
    __device__ bool operator<(T a, T b)                                                            \
    {                                                                                              \
        return (float)a < (float)b;                                                                \
    }
NCCL_COMPUTES_IN_FLOAT(__nv_fp8_e4m3)
NCCL_COMPUTES_IN_FLOAT(__nv_fp8_e5m2)

template <class T> __device__ bool before(T a, T b)
{
    return a < b;
}

template <class T, int OP> __device__ T combine(T a, T b)
{
    if (OP == ncclProd)
        return a * b;
    if (OP == ncclMax)
        return before(a, b) ? b : a;
    if (OP == ncclMin)
        return before(b, a) ? b : a;
    return a + b;
}

// ncclAvg: floating-point inputs are scaled before the sum, integers are divided after it, as NCCL
// does.
template <class T> struct average {
    static __device__ T in(T value, int)
    {
        return value;
    }
    static __device__ T out(T value, int ranks)
    {
        return value / (T)ranks;
    }
};

template <class T> struct scaled {
    static __device__ T in(T value, int ranks)
    {
        return (T)((float)value * (1.0f / ranks));
    }
    static __device__ T out(T value, int)
    {
        return value;
    }
};

template <> struct average<float> : scaled<float> {
};
template <> struct average<__half> : scaled<__half> {
};
template <> struct average<__nv_bfloat16> : scaled<__nv_bfloat16> {
};
template <> struct average<__nv_fp8_e4m3> : scaled<__nv_fp8_e4m3> {
};
template <> struct average<__nv_fp8_e5m2> : scaled<__nv_fp8_e5m2> {
};
template <> struct average<double> {
    static __device__ double in(double value, int ranks)
    {
        return value * (1.0 / ranks);
    }
    static __device__ double out(double value, int)
    {
        return value;
    }
};

// What one access loads or stores: one element, or sixteen bytes of numbers that C++ has.
template <class T> struct single {
    typedef T bits;
    static const int COUNT = 1;
    static __device__ T get(bits from, int)
    {
        return from;
    }
    static __device__ void set(bits &to, int, T value)
    {
        to = value;
    }
};
template <class T, bool = std::is_arithmetic<T>::value> struct pack : single<T> {
};
template <class T> struct pack<T, true> {
    typedef T bits __attribute__((vector_size(16)));
    static const int COUNT = 16 / sizeof(T);
    static __device__ T get(bits from, int k)
    {
        return from[k];
    }
    static __device__ void set(bits &to, int k, T value)
    {
        to[k] = value;
    }
};

#endif
