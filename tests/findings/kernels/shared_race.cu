/* SPDX-License-Identifier: MIT
 * shared_race.cu: threads of a block that use the same shared memory, with and without a barrier.
 */
#include "cases.h"

__global__ void reverse(int *d)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = d[t];       //! reverse
    d[t] = s[255 - t]; //! reverse
}
WRONG(reverse, "kernels.shared-race")
{
    reverse<<<1, 256>>>(data);
}

__global__ void reverse_right(int *d)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = d[t];
    __syncthreads();
    d[t] = s[255 - t];
}
RIGHT(reverse_right)
{
    reverse_right<<<1, 256>>>(data);
}

/* The first warp tells the second one that the numbers are there. */
__global__ void told(int *d)
{
    __shared__ int s[32];
    int t = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        s[t] = d[t];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        d[t] = s[31 - t];
    }
}
RIGHT(told)
{
    told<<<1, 64>>>(data);
}

/* A warp that arrives does not wait: it may store again before the other one has read. */
__global__ void again(int *d)
{
    __shared__ int s[32];
    int t = threadIdx.x % 32;
    for (int n = 0; n < 2; n++) {
        if (threadIdx.x < 32) {
            s[t] = d[t] + n; //! again
            asm volatile("bar.arrive %0, 64;" ::"r"(1 + n) : "memory");
        } else {
            asm volatile("bar.sync %0, 64;" ::"r"(1 + n) : "memory");
            d[t] = s[31 - t]; //! again
        }
    }
}
WRONG(again, "kernels.shared-race")
{
    again<<<1, 64>>>(data);
}

/* Two of four warps meet; the others use the memory, too. */
__global__ void half_meets(int *d)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = d[t]; //! half_meets
    if (t < 64)
        __barrier_sync_count(1, 64);
    d[t] = s[t ^ 64]; //! half_meets
}
WRONG(half_meets, "kernels.shared-race")
{
    half_meets<<<1, 128>>>(data);
}

__global__ void both_halves_meet(int *d)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = d[t];
    __barrier_sync_count(1 + t / 64, 64);
    d[t] = s[t ^ 32];
}
RIGHT(both_halves_meet)
{
    both_halves_meet<<<1, 128>>>(data);
}

/* The barrier of each round was forgotten. */
__global__ void sum_rounds(int *d)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = d[t];
    __syncthreads();
    for (int n = 128; n > 0; n /= 2)
        if (t < n)
            s[t] += s[t + n]; //! sum_rounds
    if (t == 0)
        d[0] = s[0];
}
WRONG(sum_rounds, "kernels.shared-race")
{
    sum_rounds<<<1, 256>>>(data);
}

__global__ void sum_right(int *d)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = d[t];
    for (int n = 128; n > 0; n /= 2) {
        __syncthreads();
        if (t < n)
            s[t] += s[t + n];
    }
    if (t == 0)
        d[0] = s[0];
}
RIGHT(sum_right)
{
    sum_right<<<1, 256>>>(data);
}

/* One barrier a turn where two are needed: the next turn's tile replaces what slow threads read. */
__global__ void tiles(int *d, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[t] = d[k * 64 + t]; //! tiles
        __syncthreads();
        for (int i = 0; i < 64; i++)
            sum += tile[i]; //! tiles
    }
    out[t] = sum;
}
WRONG(tiles, "kernels.shared-race")
{
    tiles<<<1, 64>>>(data, data + 4096);
}

__global__ void tiles_right(int *d, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[t] = d[k * 64 + t];
        __syncthreads();
        for (int i = 0; i < 64; i++)
            sum += tile[i];
        __syncthreads();
    }
    out[t] = sum;
}
RIGHT(tiles_right)
{
    tiles_right<<<1, 64>>>(data, data + 4096);
}

/* Thread 0 sets up what all use. */
__global__ void base(int *d)
{
    __shared__ int first;
    if (threadIdx.x == 0)
        first = d[COUNT - 1]; //! base
    d[threadIdx.x] += first;  //! base
}
WRONG(base, "kernels.shared-race")
{
    base<<<1, 96>>>(data);
}

__global__ void base_right(int *d)
{
    __shared__ int first;
    if (threadIdx.x == 0)
        first = d[COUNT - 1];
    __syncthreads();
    d[threadIdx.x] += first;
}
RIGHT(base_right)
{
    base_right<<<1, 96>>>(data);
}

/* A count without an atomic. */
__global__ void tally(int *d)
{
    __shared__ int bins[8];
    if (threadIdx.x < 8)
        bins[threadIdx.x] = 0;
    __syncthreads();
    bins[d[threadIdx.x] % 8]++; //! tally
    __syncthreads();
    if (threadIdx.x < 8)
        d[threadIdx.x] = bins[threadIdx.x];
}
WRONG(tally, "kernels.shared-race")
{
    tally<<<1, 128>>>(data);
}

__global__ void tally_right(int *d)
{
    __shared__ int bins[8];
    if (threadIdx.x < 8)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[d[threadIdx.x] % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8)
        d[threadIdx.x] = bins[threadIdx.x];
}
RIGHT(tally_right)
{
    tally_right<<<1, 128>>>(data);
}

/* The barrier stands after the first use: the neighbour's value comes from the other warp. */
__global__ void neighbours(int *d)
{
    extern __shared__ int line[];
    int t = threadIdx.x;
    line[t + 1] = d[t]; //! neighbours
    if (t == 0)
        line[0] = line[blockDim.x + 1] = 0;
    int left = line[t]; //! neighbours
    __syncthreads();
    d[t] = left + line[t + 2];
}
WRONG(neighbours, "kernels.shared-race")
{
    neighbours<<<1, 64, 66 * sizeof(int)>>>(data);
}

__global__ void neighbours_right(int *d)
{
    extern __shared__ int line[];
    int t = threadIdx.x;
    line[t + 1] = d[t];
    if (t == 0)
        line[0] = line[blockDim.x + 1] = 0;
    __syncthreads();
    d[t] = line[t] + line[t + 2];
}
RIGHT(neighbours_right)
{
    neighbours_right<<<1, 64, 66 * sizeof(int)>>>(data);
}

/* Everybody stores the same value: harmless. */
__global__ void same_value(int *d)
{
    __shared__ int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    if (d[threadIdx.x] % 2)
        found = 1;
    __syncthreads();
    d[threadIdx.x] = found;
}
RIGHT(same_value)
{
    same_value<<<1, 128>>>(data);
}

/* Each thread has a byte: next to another's, and not the same. */
__global__ void bytes_right(int *d)
{
    __shared__ char s[128];
    int t = threadIdx.x;
    s[t] = (char)d[t];
    __syncwarp();
    s[t] = (char)(s[t] + 1);
    __syncthreads();
    d[t] = s[127 - t];
}
RIGHT(bytes_right)
{
    bytes_right<<<1, 128>>>(data);
}

/* Two halves of a buffer, in turn: one barrier a turn is enough. */
__global__ void two_buffers(int *d)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 6; k++) {
        s[k % 2][t] = d[k * 64 + t];
        __syncthreads();
        sum += s[k % 2][63 - t];
    }
    d[t] = sum;
}
RIGHT(two_buffers)
{
    two_buffers<<<1, 64>>>(data);
}
