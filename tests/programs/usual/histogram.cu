// SPDX-License-Identifier: MIT
// histogram.cu: each GPU counts the bytes of its part in shared memory, then in a table of its own;
// the tables are added up on GPU 0, which reads its peers' where it can and copies them where not.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <cuda_runtime.h>

static const int BINS = 256;

inline void check(cudaError_t code, const char *what, int line)
{
    if (code == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s: %s (%d)\n", line, what, cudaGetErrorName(code), code);
    exit(1);
}
#define CUDA(call) check(call, #call, __LINE__)

__global__ void count(const uchar4 *data, size_t n, unsigned int *table)
{
    __shared__ unsigned int part[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        part[i] = 0;
    __syncthreads();
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        uchar4 v = data[i];
        atomicAdd(&part[v.x], 1u);
        atomicAdd(&part[v.y], 1u);
        atomicAdd(&part[v.z], 1u);
        atomicAdd(&part[v.w], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        if (part[i] != 0)
            atomicAdd(table + i, part[i]);
}

__constant__ unsigned int *tables[16];

__global__ void merge(unsigned long long *sum, int gpus)
{
    unsigned long long all = 0;
    for (int d = 0; d < gpus; ++d)
        all += tables[d][threadIdx.x];
    sum[threadIdx.x] = all;
}

int main(void)
{
    const size_t words = 1 << 18;
    int gpus, can;
    CUDA(cudaGetDeviceCount(&gpus));

    std::vector<uchar4> data(words);
    std::vector<unsigned long long> expected(BINS), got(BINS);
    unsigned int seed = 12345;
    for (auto &w : data) {
        unsigned char b[4];
        for (auto &x : b) {
            seed = seed * 1664525u + 1013904223u;
            x = (seed >> 24) & (seed >> 16); // not uniform
            ++expected[x];
        }
        w = make_uchar4(b[0], b[1], b[2], b[3]);
    }

    std::vector<unsigned int *> table(gpus), near(gpus);
    std::vector<uchar4 *> part(gpus);
    size_t each = (words + gpus - 1) / gpus;
    for (int d = 0; d < gpus; ++d) {
        size_t first = d * each, n = first + each > words ? words - first : each;
        int blocks, threads;
        CUDA(cudaSetDevice(d));
        CUDA(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, count, 0, 0));
        CUDA(cudaMalloc(&part[d], n * sizeof(uchar4)));
        CUDA(cudaMalloc((void **)&table[d], BINS * sizeof(unsigned int)));
        CUDA(cudaMemset(table[d], 0, BINS * sizeof(unsigned int)));
        CUDA(cudaMemcpyAsync(part[d], &data[first], n * sizeof(uchar4), cudaMemcpyHostToDevice));
        count<<<24, threads, 0, cudaStreamPerThread>>>(part[d], n, table[d]);
        CUDA(cudaGetLastError());
    }
    for (int d = 0; d < gpus; ++d) {
        CUDA(cudaSetDevice(d));
        CUDA(cudaDeviceSynchronize());
    }
    CUDA(cudaSetDevice(0));
    for (int d = 0; d < gpus; ++d) {
        near[d] = table[d];
        if (d == 0)
            continue;
        CUDA(cudaDeviceCanAccessPeer(&can, 0, d));
        if (can) {
            CUDA(cudaDeviceEnablePeerAccess(d, 0));
            continue;
        }
        CUDA(cudaMalloc(&near[d], BINS * sizeof(unsigned int)));
        CUDA(cudaMemcpyPeer(near[d], 0, table[d], d, BINS * sizeof(unsigned int)));
    }
    unsigned long long *sum;
    CUDA(cudaMalloc(&sum, sizeof(*sum) * BINS));
    CUDA(cudaMemcpyToSymbol(tables, near.data(), gpus * sizeof(near[0])));
    merge<<<1, BINS>>>(sum, gpus);
    CUDA(cudaMemcpy(got.data(), sum, sizeof(*sum) * BINS, cudaMemcpyDeviceToHost));
    for (int d = 0; d < gpus; ++d) {
        CUDA(cudaSetDevice(d));
        CUDA(cudaDeviceReset());
    }
    bool same = got == expected;
    printf("%llu of %zu bytes counted on %d GPUs\n", std::accumulate(got.begin(), got.end(), 0ULL),
           words * 4, gpus);
    printf("%s\n", same ? "PASSED" : "FAILED");
    return same ? 0 : 1;
}
