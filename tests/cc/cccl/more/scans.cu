// SPDX-License-Identifier: MIT
// thrust::exclusive_scan, copy_if and partition; cub::DeviceScan and cub::DeviceSelect.
// prints: scanned and selected
#include <numeric>

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/scan.h>

#include "../check.h"

struct is_even {
    __host__ __device__ bool operator()(int x) const
    {
        return x % 2 == 0;
    }
};

int main()
{
    const int n = 5000;
    std::vector<int> host = numbers(n, 1000), sums(n), found(n), even;
    thrust::device_vector<int> from(host.begin(), host.end()), to(n), count(1);
    int *in = thrust::raw_pointer_cast(from.data()), *out = thrust::raw_pointer_cast(to.data());
    size_t bytes = 0;

    std::exclusive_scan(host.begin(), host.end(), sums.begin(), 5);
    thrust::exclusive_scan(from.begin(), from.end(), to.begin(), 5);
    thrust::copy(to.begin(), to.end(), found.begin());
    CHECK(found == sums);
    DO(cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n));
    thrust::device_vector<char> storage(bytes);
    DO(cub::DeviceScan::InclusiveSum(thrust::raw_pointer_cast(storage.data()), bytes, in, out, n));
    std::inclusive_scan(host.begin(), host.end(), sums.begin());
    thrust::copy(to.begin(), to.end(), found.begin());
    CHECK(found == sums);
    for (int x : host)
        if (x % 2 == 0)
            even.push_back(x);
    auto end = thrust::copy_if(from.begin(), from.end(), to.begin(), is_even());
    found.resize(end - to.begin());
    thrust::copy(to.begin(), end, found.begin());
    CHECK(found == even);
    DO(cub::DeviceSelect::If(nullptr, bytes, in, out, count.begin(), n, is_even()));
    storage.resize(bytes);
    DO(cub::DeviceSelect::If(thrust::raw_pointer_cast(storage.data()), bytes, in, out,
                             count.begin(), n, is_even()));
    CHECK(count[0] == (int)even.size());
    std::puts("scanned and selected");
    return 0;
}
