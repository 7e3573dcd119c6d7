// SPDX-License-Identifier: MIT
// cub::DeviceReduce and cub::BlockReduce, on each of two GPUs.
// prints: sums and maxima of 40001 numbers on 2 GPUs
#include <algorithm>
#include <numeric>

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>

#include "check.h"

enum { THREADS = 128, BLOCKS = 4 };

__global__ void sum_blocks(const int *from, int *sums)
{
    using Reduce = cub::BlockReduce<int, THREADS>;
    __shared__ typename Reduce::TempStorage storage;

    int sum = Reduce(storage).Sum(from[blockIdx.x * THREADS + threadIdx.x]);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

static void sum_device(const int *from, int count, long wanted, int most)
{
    size_t bytes = 0, other = 0;
    long *sum, result;
    int *greatest, found;
    void *storage = nullptr;

    DO(cudaMalloc(&sum, sizeof *sum));
    DO(cudaMalloc(&greatest, sizeof *greatest));
    DO(cub::DeviceReduce::Sum(nullptr, bytes, from, sum, count));
    DO(cub::DeviceReduce::Max(nullptr, other, from, greatest, count));
    DO(cudaMalloc(&storage, std::max(bytes, other)));
    DO(cub::DeviceReduce::Sum(storage, bytes, from, sum, count));
    DO(cub::DeviceReduce::Max(storage, other, from, greatest, count));
    DO(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    DO(cudaMemcpy(&found, greatest, sizeof found, cudaMemcpyDeviceToHost));
    CHECK(result == wanted && found == most);
}

int main()
{
    std::vector<int> host = numbers(40001, 1 << 20);
    long sum = std::accumulate(host.begin(), host.end(), 0L);

    for (int gpu = 0; gpu < 2; gpu++) {
        int *from, *sums, found[BLOCKS];
        DO(cudaSetDevice(gpu));
        DO(cudaMalloc(&from, host.size() * sizeof(int)));
        DO(cudaMalloc(&sums, sizeof found));
        DO(cudaMemcpy(from, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice));
        sum_device(from, (int)host.size(), sum, *std::max_element(host.begin(), host.end()));
        sum_blocks<<<BLOCKS, THREADS>>>(from, sums);
        DO(cudaMemcpy(found, sums, sizeof found, cudaMemcpyDeviceToHost));
        for (int b = 0; b < BLOCKS; b++)
            CHECK(found[b] == std::accumulate(&host[b * THREADS], &host[b * THREADS] + THREADS, 0));
    }
    std::printf("sums and maxima of %d numbers on 2 GPUs\n", (int)host.size());
    return 0;
}
