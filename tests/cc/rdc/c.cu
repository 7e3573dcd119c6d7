// SPDX-License-Identifier: MIT
// With a.cu and b.cu.
#include "common.h"

namespace
{
__device__ int mine = 3;
__global__ void report(int *out)
{
    out[1] = 2;
    out[2] = mine;
}
} // namespace

extern "C" __device__ int plain_c(int value)
{
    return value + 1;
}
__host__ __device__ int both_sides(int value)
{
    return value + 1;
}
__device__ int deep::er::nested(int value)
{
    return in_header(value) + 1;
}
__device__ int times_ten(int value)
{
    return 10 * value;
}
__device__ transform chosen = times_ten;

void run_c(int *out)
{
    report<<<1, 1>>>(out);
}
