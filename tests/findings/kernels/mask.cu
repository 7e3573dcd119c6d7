/* SPDX-License-Identifier: MIT
 * mask.cu: warp operations whose mask is not who takes part.
 */
#include "cases.h"

#define ALL 0xffffffffu

__global__ void not_named(int *d)
{
    int t = threadIdx.x;
    d[t] = __shfl_sync(0x0000ffffu, d[t], 0);
}
WRONG(not_named, "kernels.mask")
{
    not_named<<<1, 32>>>(data);
}

__global__ void named(int *d)
{
    int t = threadIdx.x;
    if (t < 16)
        d[t] = __shfl_sync(0x0000ffffu, d[t], 0);
}
RIGHT(named)
{
    named<<<1, 32>>>(data);
}

__global__ void outside(int *d)
{
    int t = threadIdx.x;
    if (t < 16)
        d[t] = __shfl_sync(0x0000ffffu, d[t], 20);
}
WRONG(outside, "kernels.mask")
{
    outside<<<1, 32>>>(data);
}

__global__ void inside(int *d)
{
    int t = threadIdx.x;
    if (t < 16)
        d[t] = __shfl_sync(0x0000ffffu, d[t], 15);
}
RIGHT(inside)
{
    inside<<<1, 32>>>(data);
}

/* The last warp is half empty. */
__global__ void short_warp(int *d)
{
    int t = threadIdx.x, sum = d[t];
    for (int n = 16; n > 0; n /= 2)
        sum += __shfl_xor_sync(ALL, sum, n);
    d[t] = sum;
}
WRONG(short_warp, "kernels.mask")
{
    short_warp<<<1, 48>>>(data);
}

RIGHT(full_warps)
{
    short_warp<<<1, 64>>>(data);
}

__global__ void mixed(int *d)
{
    int t = threadIdx.x;
    if (t < 16)
        d[t] = __shfl_sync(ALL, d[t], 0);
    else
        d[t] = __any_sync(ALL, d[t]);
}
WRONG(mixed, "kernels.mask")
{
    mixed<<<1, 32>>>(data);
}

__global__ void apart(int *d)
{
    int t = threadIdx.x;
    if (t < 16)
        d[t] = __shfl_sync(0x0000ffffu, d[t], 0);
    else
        d[t] = __any_sync(0xffff0000u, d[t]);
}
RIGHT(apart)
{
    apart<<<1, 32>>>(data);
}

__global__ void zero(int *d)
{
    d[threadIdx.x] = __ballot_sync(0, d[threadIdx.x]);
}
WRONG(zero, "kernels.mask")
{
    zero<<<1, 32>>>(data);
}

__global__ void balloted(int *d)
{
    int t = threadIdx.x;
    unsigned odd = __ballot_sync(ALL, d[t] % 2);
    if (d[t] % 2)
        d[t] = __reduce_add_sync(odd, d[t]);
}
RIGHT(balloted)
{
    balloted<<<1, 32>>>(data);
}
