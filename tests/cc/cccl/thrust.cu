// SPDX-License-Identifier: MIT
// thrust::sort and thrust::reduce, on each of two GPUs.
// prints: 2999 numbers sorted on 2 GPUs
#include <algorithm>
#include <numeric>

#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include "check.h"

int main()
{
    std::vector<int> host = numbers(2999, 100000), sorted(host.size());
    long sum = std::accumulate(host.begin(), host.end(), 0L);

    for (int gpu = 0; gpu < 2; gpu++) {
        DO(cudaSetDevice(gpu));
        thrust::device_vector<int> device(host.begin(), host.end());
        CHECK(thrust::reduce(device.begin(), device.end(), 0L) == sum);
        thrust::sort(device.begin(), device.end());
        thrust::copy(device.begin(), device.end(), sorted.begin());
        CHECK(std::is_sorted(sorted.begin(), sorted.end()));
        CHECK(std::is_permutation(sorted.begin(), sorted.end(), host.begin()));
    }
    std::printf("%d numbers sorted on 2 GPUs\n", (int)host.size());
    return 0;
}
