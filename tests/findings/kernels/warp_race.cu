/* SPDX-License-Identifier: MIT
 * warp_race.cu: lanes of a warp that believe that they run in step.
 */
#include "cases.h"

#define ALL 0xffffffffu

__global__ void unrolled(int *d)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = d[t];
    s[t + 32] = d[t + 32];
    __syncwarp();
    volatile int *v = s;
    if (t < 16) {
        v[t] += v[t + 16]; //! unrolled
        v[t] += v[t + 8];  //! unrolled
        v[t] += v[t + 4];  //! unrolled
    }
    __syncwarp();
    d[t] = s[t];
}
WRONG(unrolled, "kernels.warp-race")
{
    unrolled<<<1, 32>>>(data);
}

__global__ void unrolled_right(int *d)
{
    __shared__ int s[64];
    int t = threadIdx.x, mine;
    s[t] = d[t];
    s[t + 32] = d[t + 32];
    __syncwarp();
    for (int n = 32; n > 0; n /= 2) {
        mine = s[t] + s[(t + n) % 64];
        __syncwarp();
        s[t] = mine;
        __syncwarp();
    }
    d[t] = s[t];
}
RIGHT(unrolled_right)
{
    unrolled_right<<<1, 32>>>(data);
}

__global__ void turned(int *d)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = d[t];            //! turned
    d[t] = s[(t + 1) % 32]; //! turned
}
WRONG(turned, "kernels.warp-race")
{
    turned<<<1, 32>>>(data);
}

__global__ void turned_right(int *d)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = d[t];
    __syncwarp();
    d[t] = s[(t + 1) % 32];
}
RIGHT(turned_right)
{
    turned_right<<<1, 32>>>(data);
}

/* A shuffle hands over its own value, and orders nothing else. */
__global__ void shuffled(int *d)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = d[t]; //! shuffled
    int other = __shfl_xor_sync(ALL, t, 1);
    d[t] = s[other]; //! shuffled
}
WRONG(shuffled, "kernels.warp-race")
{
    shuffled<<<1, 32>>>(data);
}

__global__ void shuffled_right(int *d)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = d[t];
    int other = __shfl_xor_sync(ALL, t, 1);
    __syncwarp();
    d[t] = s[other];
}
RIGHT(shuffled_right)
{
    shuffled_right<<<1, 32>>>(data);
}

/* One lane prepares, in each warp; the others do not wait. */
__global__ void leader(int *d)
{
    __shared__ int s[4];
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0)
        s[warp] = d[warp] + 5; //! leader
    d[threadIdx.x] = s[warp];  //! leader
}
WRONG(leader, "kernels.warp-race")
{
    leader<<<1, 32>>>(data + 64);
}

__global__ void leader_right(int *d)
{
    __shared__ int s[4];
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0)
        s[warp] = d[1024 + warp] + 5;
    __syncwarp();
    d[threadIdx.x] = s[warp];
}
RIGHT(leader_right)
{
    leader_right<<<1, 128>>>(data);
}

/* The mask names half of the lanes that take part. */
__global__ void half(int *d)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = d[t]; //! half
    __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
    d[t] = s[31 - t]; //! half
}
WRONG(half, "kernels.warp-race")
{
    half<<<1, 32>>>(data);
}

__global__ void half_right(int *d)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = d[t];
    __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
    d[t] = s[t < 16 ? 15 - t : 47 - t];
}
RIGHT(half_right)
{
    half_right<<<1, 32>>>(data);
}

/* Two groups after each other: what the first learned goes on to the second. */
__global__ void chain_right(int *d)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = d[t];
    if (t < 16)
        __syncwarp(0x0000ffffu);
    if (t == 0 || t >= 16)
        __syncwarp(0xffff0001u);
    if (t >= 16)
        d[t] = s[t - 16];
}
RIGHT(chain_right)
{
    chain_right<<<1, 32>>>(data);
}

/* A block barrier is one for each warp, too. */
__global__ void barrier_right(int *d)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = d[t];
    __syncthreads();
    d[t] = s[t ^ 1];
}
RIGHT(barrier_right)
{
    barrier_right<<<1, 64>>>(data);
}
