// SPDX-License-Identifier: MIT
// Thrust with memory of its own kinds: universal_vector, a managed resource, streams.
// prints: memory of 3 kinds
#include <numeric>

#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/mr/allocator.h>
#include <thrust/reduce.h>
#include <thrust/system/cuda/memory_resource.h>
#include <thrust/universal_vector.h>

#include "../check.h"

struct add_one {
    __host__ __device__ void operator()(int &x) const
    {
        x++;
    }
};

int main()
{
    const int n = 777;
    cudaStream_t stream;
    thrust::universal_vector<int> shared(n, 3);
    thrust::system::cuda::universal_memory_resource managed;
    thrust::mr::allocator<int, decltype(managed)> allocator(&managed);
    thrust::device_vector<int, decltype(allocator)> own(n, 5, allocator);
    int *plain;

    DO(cudaStreamCreate(&stream));
    DO(cudaMallocAsync(&plain, n * sizeof *plain, stream));
    thrust::fill(thrust::cuda::par.on(stream), plain, plain + n, 7);
    thrust::for_each(thrust::cuda::par_nosync.on(stream), plain, plain + n, add_one());
    CHECK(thrust::reduce(thrust::cuda::par.on(stream), plain, plain + n) == 8 * n);
    CHECK(thrust::reduce(own.begin(), own.end()) == 5 * n);
    thrust::for_each(thrust::device, shared.begin(), shared.end(), add_one());
    DO(cudaDeviceSynchronize());
    CHECK(std::accumulate(shared.begin(), shared.end(), 0) == 4 * n);
    DO(cudaFreeAsync(plain, stream));
    DO(cudaStreamDestroy(stream));
    std::puts("memory of 3 kinds");
    return 0;
}
