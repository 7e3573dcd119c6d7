/* SPDX-License-Identifier: MIT
 * device.h: shared by the kernels of all three ways: their view of the group, vectors with a tail,
 * the number of the call, and programmatic dependent launch.
 */
#ifndef AR_DEVICE_H
#define AR_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

#include "allreduce.h"

#define AR_BLOCKS 264 /* most blocks of a grid: two on each of an H200's 132 multiprocessors */

/* A rank's view of the group, a kernel argument. */
struct ar_device {
    int me, n;
    size_t slot;              /* vectors for one source in one area of a board */
    uint4 *board[AR_RANKS];   /* each rank's board: [half][area][source][slot] */
    unsigned *flag[AR_RANKS]; /* each rank's flags: [what][source], counting calls */
    unsigned *call;           /* this rank's number of calls, one copy per block */
};

enum { AR_AREA_REDUCE, AR_AREA_GATHER };

/* Programmatic dependent launch: the launch of this grid may overlap the end of the previous one,
 * but nothing is read or written until that one has ended and its stores are visible. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define AR_START_EARLY()                                                                           \
    do {                                                                                           \
        cudaGridDependencySynchronize();                                                           \
        cudaTriggerProgrammaticLaunchCompletion();                                                 \
    } while (0)
#else
#define AR_START_EARLY() ((void)0)
#endif

__device__ __forceinline__ float4 ar_floats(uint4 v)
{
    return make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z),
                       __uint_as_float(v.w));
}

__device__ __forceinline__ uint4 ar_words(float4 v)
{
    return make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z),
                      __float_as_uint(v.w));
}

/* Vector i of `count` floats; the last one may be short, and is padded with zeros. Vectors are
 * counted in 32 bits: enough for 64 GiB, with half the registers. */
__device__ __forceinline__ uint4 ar_load(const float *from, unsigned i, size_t count)
{
    if (i < count / 4)
        return ((const uint4 *)from)[i];
    const unsigned *tail = (const unsigned *)from + (size_t)4 * i;
    return make_uint4(tail[0], count % 4 > 1 ? tail[1] : 0, count % 4 > 2 ? tail[2] : 0, 0);
}

__device__ __forceinline__ void ar_store(float *to, unsigned i, size_t count, uint4 v)
{
    if (i < count / 4) {
        ((uint4 *)to)[i] = v;
        return;
    }
    unsigned *tail = (unsigned *)to + (size_t)4 * i;
    tail[0] = v.x;
    if (count % 4 > 1)
        tail[1] = v.y;
    if (count % 4 > 2)
        tail[2] = v.z;
}

/* Adds in the order of ranks, which makes all ranks' sums bitwise equal. */
template <int N> __device__ __forceinline__ uint4 ar_sum(const uint4 v[N])
{
    float4 sum = ar_floats(v[0]);
#pragma unroll
    for (int r = 1; r < N; r++) {
        float4 x = ar_floats(v[r]);
        sum = make_float4(sum.x + x.x, sum.y + x.y, sum.z + x.z, sum.w + x.w);
    }
    return ar_words(sum);
}

/* A message in vectors, one part per rank: the first `longer` parts have one vector more. */
struct ar_parts {
    unsigned least;
    int longer;
};

__device__ __host__ __forceinline__ struct ar_parts ar_cut(size_t count, int n)
{
    const unsigned vectors = (unsigned)((count + 3) / 4);
    const struct ar_parts p = {vectors / n, (int)(vectors % n)};
    return p;
}

__device__ __host__ __forceinline__ unsigned ar_first(struct ar_parts p, int r)
{
    return p.least * r + (r < p.longer ? r : p.longer);
}

__device__ __host__ __forceinline__ unsigned ar_length(struct ar_parts p, int r)
{
    return p.least + (r < p.longer);
}

/* Below this index every part of a message has a full vector, so no checks are needed. At most two
 * vectors of a part lie behind it. */
__device__ __forceinline__ unsigned ar_plain(struct ar_parts p, size_t count)
{
    return p.least > 0 ? p.least - (count % 4 != 0) : 0;
}

/* The number of this call. Read at the start; ar_count at the end makes it the next one's. */
__device__ __forceinline__ unsigned ar_call(const struct ar_device &d)
{
    return d.call[blockIdx.x];
}

/* Advances all AR_BLOCKS copies, whatever the size of the grid, so that grids of any size may
 * follow.
 */
__device__ __forceinline__ void ar_count(const struct ar_device &d, unsigned call)
{
    __syncthreads();
    for (unsigned b = blockIdx.x + threadIdx.x * gridDim.x; b < AR_BLOCKS;
         b += gridDim.x * blockDim.x)
        d.call[b] = call + 1;
}

#endif
