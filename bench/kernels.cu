/* SPDX-License-Identifier: MIT
 * kernels.cu: the kernels that are measured.
 */
#include "bench.h"
#include "reduce.h"

__global__ void nop() {}

__global__ void add(const float *a, const float *b, float *c, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void fill(float *out, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (float)(i % 1000) * 0.25f;
}

__global__ void count(const float *in, unsigned *bins, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[(int)in[i]], 1u);
}

void launch_count(const float *in, unsigned *bins, long n)
{
    count<<<(unsigned)((n + BLOCK - 1) / BLOCK), BLOCK>>>(in, bins, n);
}

void launch_nop(void)
{
    nop<<<1, 1>>>();
}

void launch_add(const float *a, const float *b, float *c, long n)
{
    add<<<(unsigned)((n + BLOCK - 1) / BLOCK), BLOCK>>>(a, b, c, n);
}

void launch_fill(float *out, long n)
{
    fill<<<(unsigned)((n + BLOCK - 1) / BLOCK), BLOCK>>>(out, n);
}

void launch_reduce(const float *in, float *out, unsigned blocks)
{
    reduce<<<blocks, BLOCK>>>(in, out);
}
