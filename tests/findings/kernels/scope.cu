/* SPDX-License-Identifier: MIT
 * scope.cu: atomics of a block's scope, used within a block and between blocks.
 */
#include "cases.h"

/* Of an inlined call that begins a block the line table knows only the line before. */
__global__ void count(int *n)
{                          //! count
    atomicAdd_block(n, 1); //! count
}
WRONG(count, "kernels.scope")
{
    count<<<8, 32>>>(data);
}

__global__ void count_right(int *n)
{
    atomicAdd_block(n + blockIdx.x, 1);
}
RIGHT(count_right)
{
    count_right<<<8, 32>>>(data);
}

__global__ void highest(const int *d, int *max)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax_block(max, d[i]); //! highest
}
WRONG(highest, "kernels.scope")
{
    highest<<<4, 64>>>(data, data + 4096);
}

__global__ void highest_right(const int *d, int *max)
{
    __shared__ int here;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        here = 0;
    __syncthreads();
    atomicMax_block(&here, d[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(max, here);
}
RIGHT(highest_right)
{
    highest_right<<<4, 64>>>(data, data + 4096);
}

/* One side is of the GPU's scope: that does not help. */
__global__ void mixed(int *n)
{
    if (blockIdx.x == 0) //! mixed
        atomicAdd(n, 1); //! mixed
    else
        atomicAdd_block(n, 1); //! mixed
}
WRONG(mixed, "kernels.scope")
{
    mixed<<<2, 1>>>(data);
}

__global__ void mixed_right(int *n)
{
    if (threadIdx.x == 0)
        atomicAdd(n, 1);
    else
        atomicAdd_block(n, 1);
}
RIGHT(mixed_right)
{
    mixed_right<<<1, 64>>>(data);
}

__global__ void bins(const int *d, int *bin)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicInc_block((unsigned *)&bin[d[i] % 4], 1000); //! bins
}
WRONG(bins, "kernels.scope")
{
    bins<<<4, 64>>>(data, data + 4096);
}

__global__ void bins_right(const int *d, int *bin)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicInc((unsigned *)&bin[d[i] % 4], 1000);
}
RIGHT(bins_right)
{
    bins_right<<<4, 64>>>(data, data + 4096);
}

__global__ void swap(int *d)
{
    if (threadIdx.x == 0)
        d[100 + blockIdx.x] = atomicExch_block(d, blockIdx.x); //! swap
}
WRONG(swap, "kernels.scope")
{
    swap<<<4, 32>>>(data);
}

__global__ void swap_right(int *d)
{
    if (threadIdx.x == 0)
        d[100 + blockIdx.x] = atomicExch(d, blockIdx.x);
}
RIGHT(swap_right)
{
    swap_right<<<4, 32>>>(data);
}
