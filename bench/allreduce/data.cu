/* SPDX-License-Identifier: MIT
 * data.cu: numbers derived from a seed, generated and checked on the GPU.
 */
#include "data.h"

#include "team.h"

static __device__ unsigned mix(unsigned h)
{
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ h >> 16;
}

static __device__ float number(enum data_kind kind, unsigned seed, int rank, size_t i)
{
    unsigned h = mix((unsigned)i ^ mix((unsigned)(i >> 32) ^ mix(seed * 64 + rank)));

    if (kind == DATA_DYADIC)
        return ((int)(h & 0xffff) - 32768) / 256.0f;
    if (h % 1024 == 0)
        return -0.0f;
    /* exponents 2^-15 .. 2^16, any sign and fraction */
    return __uint_as_float((h & 0x807fffffu) | (112 + (h >> 23 & 31)) << 23);
}

static __global__ void fill(float *to, size_t count, enum data_kind kind, unsigned seed, int rank)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = number(kind, seed, rank, i);
}

static __global__ void check(const float *sum, size_t count, enum data_kind kind, unsigned seed,
                             int n, struct data_verdict *verdict)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        float right = number(kind, seed, 0, i);
        for (int r = 1; r < n; r++)
            right += number(kind, seed, r, i);
        if (__float_as_uint(right) != __float_as_uint(sum[i])) {
            atomicAdd(&verdict->wrong, 1ull);
            atomicMin(&verdict->first, (unsigned long long)i);
        }
    }
}

static unsigned blocks_for(size_t count)
{
    return (unsigned)(count / 256 < 1024 ? count / 256 + 1 : 1024);
}

void data_fill(float *to, size_t count, enum data_kind kind, unsigned seed, int rank,
               cudaStream_t stream)
{
    fill<<<blocks_for(count), 256, 0, stream>>>(to, count, kind, seed, rank);
    CHECK(cudaGetLastError());
}

struct data_verdict data_check(const float *sum, size_t count, enum data_kind kind, unsigned seed,
                               int n, cudaStream_t stream)
{
    struct data_verdict verdict = {0, ~0ull}, *on_gpu;

    CHECK(cudaMallocAsync((void **)&on_gpu, sizeof verdict, stream));
    CHECK(cudaMemcpyAsync(on_gpu, &verdict, sizeof verdict, cudaMemcpyHostToDevice, stream));
    check<<<blocks_for(count), 256, 0, stream>>>(sum, count, kind, seed, n, on_gpu);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(&verdict, on_gpu, sizeof verdict, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(on_gpu, stream));
    CHECK(cudaStreamSynchronize(stream));
    return verdict;
}
