// SPDX-License-Identifier: MIT
// cub::DeviceRadixSort of pairs with several tiles, and cub::DeviceHistogram.
// prints: 60000 pairs by radix
#include <algorithm>
#include <cstring>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "../check.h"

int main()
{
    const int n = 60000;
    std::vector<int> host = numbers(n, 1 << 24), order(n), values(n);
    std::vector<float> keys(n), sorted(n);
    float *key, *key_out;
    int *value, *value_out, *bins, counts[16], wanted[16] = {0};
    void *storage = nullptr;
    size_t bytes = 0;

    for (int i = 0; i < n; i++) {
        keys[i] = (float)host[i] - (1 << 23);
        order[i] = i;
        wanted[(int)(host[i] >> 20)]++;
    }
    DO(cudaMalloc(&key, n * sizeof *key));
    DO(cudaMalloc(&key_out, n * sizeof *key));
    DO(cudaMalloc(&value, n * sizeof *value));
    DO(cudaMalloc(&value_out, n * sizeof *value));
    DO(cudaMalloc(&bins, sizeof counts));
    DO(cudaMemcpy(key, keys.data(), n * sizeof *key, cudaMemcpyHostToDevice));
    DO(cudaMemcpy(value, order.data(), n * sizeof *value, cudaMemcpyHostToDevice));
    DO(cub::DeviceRadixSort::SortPairs(storage, bytes, key, key_out, value, value_out, n));
    DO(cudaMalloc(&storage, bytes));
    DO(cub::DeviceRadixSort::SortPairs(storage, bytes, key, key_out, value, value_out, n));
    DO(cudaMemcpy(sorted.data(), key_out, n * sizeof *key, cudaMemcpyDeviceToHost));
    DO(cudaMemcpy(values.data(), value_out, n * sizeof *value, cudaMemcpyDeviceToHost));
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    CHECK(values == order);
    for (int i = 0; i < n; i++)
        CHECK(sorted[i] == keys[order[i]]);
    DO(cudaFree(storage));
    storage = nullptr;
    float low = -(float)(1 << 23), high = (float)(1 << 23);
    DO(cub::DeviceHistogram::HistogramEven(storage, bytes, key, bins, 17, low, high, n));
    DO(cudaMalloc(&storage, bytes));
    DO(cub::DeviceHistogram::HistogramEven(storage, bytes, key, bins, 17, low, high, n));
    DO(cudaMemcpy(counts, bins, sizeof counts, cudaMemcpyDeviceToHost));
    CHECK(std::memcmp(counts, wanted, sizeof counts) == 0);
    std::printf("%d pairs by radix\n", n);
    return 0;
}
