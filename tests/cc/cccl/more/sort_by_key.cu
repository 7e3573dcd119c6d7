// SPDX-License-Identifier: MIT
// thrust::sort_by_key, unique and binary_search of device memory; a custom order.
// prints: sorted by key
#include <algorithm>

#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include "../check.h"

struct descending {
    __host__ __device__ bool operator()(int a, int b) const
    {
        return a > b;
    }
};

int main()
{
    const int n = 1500;
    std::vector<int> host = numbers(n, 400), keys(n), values(n);
    thrust::device_vector<int> key(host.begin(), host.end()), value(n);

    thrust::sequence(value.begin(), value.end());
    thrust::stable_sort_by_key(key.begin(), key.end(), value.begin(), descending());
    thrust::copy(key.begin(), key.end(), keys.begin());
    thrust::copy(value.begin(), value.end(), values.begin());
    for (int i = 0; i < n; i++) {
        CHECK(keys[i] == host[values[i]]);
        CHECK(i == 0 || keys[i - 1] > keys[i] ||
              (keys[i - 1] == keys[i] && values[i - 1] < values[i]));
    }
    std::vector<int> set(keys);
    set.erase(std::unique(set.begin(), set.end()), set.end());
    CHECK(thrust::unique(key.begin(), key.end()) - key.begin() == (long)set.size());
    CHECK(thrust::binary_search(key.begin(), key.begin() + set.size(), set[7], descending()));
    std::puts("sorted by key");
    return 0;
}
