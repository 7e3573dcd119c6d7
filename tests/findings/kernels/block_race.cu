/* SPDX-License-Identifier: MIT
 * block_race.cu: threads of one block that use the same global memory.
 */
#include "cases.h"

__global__ void shift(int *d)
{
    int t = threadIdx.x;
    d[t] = d[t + 1]; //! shift
}
WRONG(shift, "kernels.block-race")
{
    shift<<<1, 128>>>(data);
}

__global__ void shift_right(int *d)
{
    int t = threadIdx.x, other = d[t + 1];
    __syncthreads();
    d[t] = other;
}
RIGHT(shift_right)
{
    shift_right<<<1, 128>>>(data);
}

__global__ void scan(int *d)
{
    int t = threadIdx.x;
    for (int n = 1; n < 128; n *= 2) {
        int other = t >= n ? d[t - n] : 0; //! scan
        __syncthreads();
        d[t] += other; //! scan
    }
}
WRONG(scan, "kernels.block-race")
{
    scan<<<1, 128>>>(data);
}

__global__ void scan_right(int *d)
{
    int t = threadIdx.x;
    for (int n = 1; n < 128; n *= 2) {
        int other = t >= n ? d[t - n] : 0;
        __syncthreads();
        d[t] += other;
        __syncthreads();
    }
}
RIGHT(scan_right)
{
    scan_right<<<1, 128>>>(data);
}

__global__ void count_even(int *d, int *count)
{
    if (d[threadIdx.x] % 2 == 0)
        ++*count; //! count_even
}
WRONG(count_even, "kernels.block-race")
{
    count_even<<<1, 128>>>(data, data + 4096);
}

__global__ void count_even_right(int *d, int *count)
{
    int all = __syncthreads_count(d[threadIdx.x] % 2 == 0);
    if (threadIdx.x == 0)
        *count += all;
}
RIGHT(count_even_right)
{
    count_even_right<<<1, 128>>>(data, data + 4096);
}

/* The first warp prepares a table for all. */
__global__ void table(int *d)
{
    int t = threadIdx.x;
    if (t < 32)
        d[1000 + t] = t * t; //! table
    d[t] = d[1000 + t % 32]; //! table
}
WRONG(table, "kernels.block-race")
{
    table<<<1, 96>>>(data);
}

__global__ void table_right(int *d)
{
    int t = threadIdx.x;
    if (t < 32)
        d[1000 + t] = t * t;
    __syncthreads();
    d[t] = d[1000 + t % 32];
}
RIGHT(table_right)
{
    table_right<<<1, 96>>>(data);
}

/* Structures of two words: each thread writes its own and the next one's first. */
struct pair {
    int a, b;
};

__global__ void pairs(pair *p)
{
    int t = threadIdx.x;
    p[t].a = t;     //! pairs
    p[t + 1].a = 7; //! pairs
}
WRONG(pairs, "kernels.block-race")
{
    pairs<<<1, 64>>>((pair *)data);
}

__global__ void pairs_right(pair *p)
{
    int t = threadIdx.x;
    p[t].a = t;
    p[t + 1].b = 7;
}
RIGHT(pairs_right)
{
    pairs_right<<<1, 64>>>((pair *)data);
}

/* The warp of a flag: volatile, with a fence of the block's scope. */
__global__ void handed_right(int *d, volatile int *flag)
{
    if (threadIdx.x == 0) {
        d[5] = 42;
        __threadfence_block();
        *flag = -1;
    } else if (threadIdx.x == 32) {
        while (*flag != -1)
            ;
        d[6] = d[5];
    }
}
RIGHT(handed_right)
{
    handed_right<<<1, 64>>>(data + 64, data);
}

__global__ void handed(int *d, volatile int *flag)
{
    if (threadIdx.x == 0) {
        d[5] = 42; //! handed
        *flag = -1;
    } else if (threadIdx.x == 32) {
        while (*flag != -1)
            ;
        d[6] = d[5]; //! handed
    }
}
WRONG(handed, "kernels.block-race")
{
    handed<<<1, 64>>>(data + 64, data);
}
