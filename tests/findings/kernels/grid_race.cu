/* SPDX-License-Identifier: MIT
 * grid_race.cu: blocks of one kernel that use the same memory, with and without what orders them.
 */
#include <cooperative_groups.h>

#include "cases.h"

__global__ void stencil(int *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n)
        d[i] += d[i + 1]; //! stencil
}
WRONG(stencil, "kernels.grid-race")
{
    stencil<<<4, 64>>>(data, 256);
}

__global__ void stencil_right(const int *d, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n)
        out[i] = d[i] + d[i + 1];
}
RIGHT(stencil_right)
{
    stencil_right<<<4, 64>>>(data, data + 4096, 256);
}

/* Each block adds to one sum. */
__global__ void total(const int *d, int *sum)
{
    if (threadIdx.x == 0)
        *sum += d[blockIdx.x]; //! total
}
WRONG(total, "kernels.grid-race")
{
    total<<<8, 32>>>(data, data + 4096);
}

__global__ void total_right(const int *d, int *sum)
{
    if (threadIdx.x == 0)
        atomicAdd(sum, d[blockIdx.x]);
}
RIGHT(total_right)
{
    total_right<<<8, 32>>>(data, data + 4096);
}

/* The last block adds the parts, but no fence says that they are there. */
__device__ unsigned arrived;

__device__ void add_parts(int *parts)
{
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++)
        sum += ((volatile int *)parts)[i]; //! last_block block_fence
    parts[gridDim.x] = sum;
    arrived = 0;
}

__global__ void last_block(const int *d, int *parts)
{
    if (threadIdx.x != 0)
        return;
    parts[blockIdx.x] = d[blockIdx.x] * 3; //! last_block
    if (atomicAdd(&arrived, 1) == gridDim.x - 1)
        add_parts(parts);
}
WRONG(last_block, "kernels.grid-race")
{
    last_block<<<8, 32>>>(data, data + 4096);
}

__global__ void last_block_right(const int *d, int *parts)
{
    if (threadIdx.x != 0)
        return;
    parts[blockIdx.x] = d[blockIdx.x] * 3;
    __threadfence();
    if (atomicAdd(&arrived, 1) == gridDim.x - 1)
        add_parts(parts);
}
RIGHT(last_block_right)
{
    last_block_right<<<8, 32>>>(data, data + 4096);
}

/* A fence of a block's scope is none for other blocks. */
__global__ void block_fence(const int *d, int *parts)
{
    if (threadIdx.x != 0)
        return;
    parts[blockIdx.x] = d[blockIdx.x] * 3; //! block_fence
    __threadfence_block();
    if (atomicAdd(&arrived, 1) == gridDim.x - 1)
        add_parts(parts);
}
WRONG(block_fence, "kernels.grid-race")
{
    block_fence<<<8, 32>>>(data, data + 4096);
}

/* All threads of a block write, one tells: the barrier hands over what the others did. */
__global__ void whole_block_right(const int *d, int *out)
{
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = d[i] * 3;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&arrived, 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0)
        arrived = 0;
    for (int k = threadIdx.x; last && k < gridDim.x * blockDim.x; k += blockDim.x)
        out[k] = out[k] + 1;
}
RIGHT(whole_block_right)
{
    whole_block_right<<<8, 64>>>(data, data + 4096);
}

/* The flag is stored before what it announces. */
__global__ void early_flag(int *message, volatile int *flag)
{
    if (blockIdx.x == 0) {
        __threadfence();
        *flag = 1;
        *message = 42; //! early_flag
    } else {
        while (*flag != 1)
            ;
        message[1] = *message; //! early_flag
    }
}
WRONG(early_flag, "kernels.grid-race")
{
    early_flag<<<2, 1>>>(data + 64, data);
}

__global__ void flag_right(int *message, volatile int *flag)
{
    if (blockIdx.x == 0) {
        *message = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag != 1)
            ;
        __threadfence();
        message[1] = *message;
    }
}
RIGHT(flag_right)
{
    flag_right<<<2, 1>>>(data + 64, data);
}

/* A lock without a fence protects nothing. */
__global__ void lock_only(int *lock, int *sum)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *sum = *sum + blockIdx.x; //! lock_only
    atomicExch(lock, 0);
}
WRONG(lock_only, "kernels.grid-race")
{
    lock_only<<<4, 32>>>(data, data + 4096);
}

__global__ void lock_right(int *lock, int *sum)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *sum = *sum + blockIdx.x;
    __threadfence();
    atomicExch(lock, 0);
}
RIGHT(lock_right)
{
    lock_right<<<4, 32>>>(data, data + 4096);
}

__global__ void grid_right(int *d)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    for (int k = 0; k < 3; k++) {
        int other = d[(i + 77) % n];
        grid.sync();
        d[i] = other;
        grid.sync();
    }
}
RIGHT(grid_right)
{
    void *arguments[] = {&data};
    MUST(cudaLaunchCooperativeKernel(grid_right, 4, 64, arguments));
}

/* A barrier of the block is none of the grid. */
__global__ void block_barrier(int *d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    int other = d[(i + 64) % n]; //! block_barrier
    __syncthreads();
    d[i] = other; //! block_barrier
}
WRONG(block_barrier, "kernels.grid-race")
{
    block_barrier<<<4, 64>>>(data);
}
