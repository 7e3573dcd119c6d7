// SPDX-License-Identifier: MIT
// cub::BlockLoad, BlockScan, BlockRadixSort, BlockStore, WarpReduce, WarpScan: a kernel each.

// prints: blocks and warps
#include <algorithm>
#include <numeric>

#include <cub/cub.cuh>

#include "../check.h"

enum { THREADS = 96, ITEMS = 5, ALL = THREADS * ITEMS };

__global__ void sort_and_scan(const int *from, int *sorted, int *sums)
{
    using Load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
    using Scan = cub::BlockScan<int, THREADS, cub::BLOCK_SCAN_RAKING>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
    } storage;
    int item[ITEMS], before[ITEMS], total;

    Load(storage.load).Load(from, item);
    __syncthreads();
    Sort(storage.sort).Sort(item);
    __syncthreads();
    Scan(storage.scan).ExclusiveSum(item, before, total);
    __syncthreads();
    Store(storage.store).Store(sorted, item);
    __syncthreads();
    Store(storage.store).Store(sums, before);
    if (threadIdx.x == 0)
        sums[ALL] = total;
}

struct lesser { // cub::Min() in releases before 3.0, cuda::minimum<>() since
    __device__ int operator()(int a, int b) const
    {
        return a < b ? a : b;
    }
};

__global__ void warps(const int *from, int *least, int *running)
{
    using Reduce = cub::WarpReduce<int, 16>;
    using Scan = cub::WarpScan<int>;
    __shared__ typename Reduce::TempStorage reduce[THREADS / 16];
    __shared__ typename Scan::TempStorage scan[THREADS / 32];
    int i = (int)threadIdx.x, lowest = Reduce(reduce[i / 16]).Reduce(from[i], lesser()), sum;

    if (i % 16 == 0)
        least[i / 16] = lowest;
    Scan(scan[i / 32]).InclusiveSum(from[i], sum);
    running[i] = sum;
}

int main()
{
    std::vector<int> host = numbers(ALL, 5000), sorted(ALL), sums(ALL + 1), wanted(ALL + 1);
    int *from, *to, *more;

    DO(cudaMalloc(&from, ALL * sizeof(int)));
    DO(cudaMalloc(&to, ALL * sizeof(int)));
    DO(cudaMalloc(&more, (ALL + 1) * sizeof(int)));
    DO(cudaMemcpy(from, host.data(), ALL * sizeof(int), cudaMemcpyHostToDevice));
    sort_and_scan<<<1, THREADS>>>(from, to, more);
    DO(cudaMemcpy(sorted.data(), to, ALL * sizeof(int), cudaMemcpyDeviceToHost));
    DO(cudaMemcpy(sums.data(), more, (ALL + 1) * sizeof(int), cudaMemcpyDeviceToHost));
    warps<<<1, THREADS>>>(from, to, more);
    std::vector<int> expected(host);
    std::sort(expected.begin(), expected.end());
    CHECK(sorted == expected);
    for (int i = 0; i < ALL; i++)
        wanted[i + 1] = wanted[i] + expected[i];
    CHECK(sums == wanted);
    DO(cudaMemcpy(sorted.data(), to, THREADS / 16 * sizeof(int), cudaMemcpyDeviceToHost));
    DO(cudaMemcpy(sums.data(), more, THREADS * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < THREADS; i++) {
        if (i % 16 == 0)
            CHECK(sorted[i / 16] == *std::min_element(&host[i], &host[i] + 16));
        CHECK(sums[i] == std::accumulate(&host[i / 32 * 32], &host[i] + 1, 0));
    }
    std::puts("blocks and warps");
    return 0;
}
