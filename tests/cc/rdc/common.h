// SPDX-License-Identifier: MIT
// What the files of the program share: the rules of separate compilation, as nvcc has them.
#pragma once
#include <stdio.h>

typedef int (*transform)(int);

struct Counter {
    int start;
    __device__ Counter(int from);
    __device__ int next(int step);
};

extern __device__ int total;        // b.cu
extern __constant__ int weights[4]; // b.cu
extern __device__ transform chosen; // c.cu

__device__ int scaled(int value);              // b.cu
__device__ float scaled(float value);          // b.cu: overloaded
extern "C" __device__ int plain_c(int value);  // c.cu
__host__ __device__ int both_sides(int value); // c.cu
namespace deep
{
namespace er
{
__device__ int nested(int);
}
} // namespace deep
__global__ void kernel_of_b(int *out); // b.cu, launched from a.cu
void run_b(int *out);
void run_c(int *out);

/* Inline: in every file, one function. Its shared memory is one object too. */
inline __device__ int in_header(int value)
{
    __shared__ int kept[32];
    kept[threadIdx.x] = value;
    __syncthreads();
    return kept[blockDim.x - 1 - threadIdx.x];
}

template <typename T> __device__ T twice(T value)
{
    return value + value;
}

template <typename T> __global__ void from_template(T *out)
{
    out[threadIdx.x] = twice(T(threadIdx.x));
}

template <typename T> inline void print_template(int *out)
{
    from_template<T><<<1, 4>>>((T *)out);
}
