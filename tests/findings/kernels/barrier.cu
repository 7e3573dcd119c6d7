/* SPDX-License-Identifier: MIT
 * barrier.cu: threads that do not all reach the same barrier.
 */
#include "cases.h"

__global__ void branches(int *d)
{
    if (threadIdx.x % 2)
        __syncthreads();
    else
        __syncthreads();
    d[threadIdx.x] = 1;
}
WRONG(branches, "kernels.barrier")
{
    branches<<<1, 64>>>(data);
}

__global__ void same_way(int *d)
{
    if (blockDim.x > 32)
        __syncthreads();
    d[threadIdx.x] = 1;
}
RIGHT(same_way)
{
    same_way<<<1, 64>>>(data);
}

/* The tail leaves before the barrier. */
__global__ void early(int *d, int n)
{
    if (threadIdx.x >= n)
        return;
    __syncthreads();
    d[threadIdx.x] = 1;
}
WRONG(early, "kernels.barrier")
{
    early<<<1, 64>>>(data, 50);
}

RIGHT(early_none)
{
    early<<<1, 64>>>(data, 64);
}

__global__ void late(int *d, int n)
{
    int value = threadIdx.x < n ? d[threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x >= n)
        return;
    d[threadIdx.x] = value + 1;
}
RIGHT(late)
{
    late<<<1, 64>>>(data, 50);
}

/* Each thread goes round as often as its own element says. */
__global__ void own_rounds(int *d)
{
    for (int i = 0; i <= threadIdx.x / 32; i++)
        __syncthreads();
    d[threadIdx.x] = 1;
}
WRONG(own_rounds, "kernels.barrier")
{
    own_rounds<<<1, 64>>>(data);
}

__global__ void all_rounds(int *d)
{
    for (int i = 0; i < blockDim.x / 32; i++)
        __syncthreads();
    d[threadIdx.x] = 1;
}
RIGHT(all_rounds)
{
    all_rounds<<<1, 64>>>(data);
}

__global__ void half_warp(int *d)
{
    if (threadIdx.x < 16)
        __syncthreads();
    d[threadIdx.x] = 1;
}
WRONG(half_warp, "kernels.barrier")
{
    half_warp<<<1, 32>>>(data);
}

__global__ void whole_blocks(int *d)
{
    if (blockIdx.x % 2)
        return;
    __syncthreads();
    d[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
RIGHT(whole_blocks)
{
    whole_blocks<<<4, 32>>>(data);
}

__global__ void counting(int *d)
{
    if (threadIdx.x < 32)
        d[threadIdx.x] = __syncthreads_count(d[threadIdx.x]);
    else
        d[threadIdx.x] = __syncthreads_count(0);
}
WRONG(counting, "kernels.barrier")
{
    counting<<<1, 64>>>(data);
}

__global__ void counting_right(int *d)
{
    d[threadIdx.x] = __syncthreads_count(threadIdx.x < 32 ? d[threadIdx.x] : 0);
}
RIGHT(counting_right)
{
    counting_right<<<1, 64>>>(data);
}
