// SPDX-License-Identifier: MIT
// With a.cu and c.cu.
#include "common.h"

__device__ int total;
__constant__ int weights[4] = {1, 2, 3, 4};
static __device__ int mine = 2;
static __device__ int hidden()
{
    return mine;
}
static __global__ void report(int *out)
{
    out[1] = hidden();
}

__device__ int scaled(int value)
{
    return 3 * value;
}
__device__ float scaled(float value)
{
    return 2 * value;
}

__device__ int exchange_b(int value)
{
    __shared__ int row[32];
    row[threadIdx.x] = value;
    __syncthreads();
    return row[blockDim.x - 1 - threadIdx.x];
}

__device__ int plus_99(int value)
{
    return value + 99;
}

__global__ void kernel_of_b(int *out)
{
    if (out == nullptr)
        chosen = plus_99;
    else
        out[threadIdx.x] = weights[threadIdx.x];
}

__device__ Counter::Counter(int from) : start(from) {}
__device__ int Counter::next(int step)
{
    return start += step;
}

void run_b(int *out)
{
    kernel_of_b<<<1, 4>>>(out);
}

void print_in_b(int *out)
{
    report<<<1, 1>>>(out);
    print_template<int>(out);
}
