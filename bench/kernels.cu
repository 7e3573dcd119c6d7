/* SPDX-License-Identifier: MIT
 * kernels.cu: the kernels that are measured.
 */
#include "bench.h"

__global__ void nop() {}

__global__ void add(const float *a, const float *b, float *c, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

/* The block reduction: 9 barriers a block. */
__global__ void reduce(const float *in, float *out)
{
    __shared__ float part[BLOCK];
    unsigned t = threadIdx.x;
    part[t] = in[(size_t)blockIdx.x * BLOCK + t];
    __syncthreads();
    for (unsigned step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
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
