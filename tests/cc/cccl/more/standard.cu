// SPDX-License-Identifier: MIT
// cuda::std in device code: array, tuple, complex, optional, span, bit, limits, atomic, semaphores.
// prints: the standard library on a GPU
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>

#include "../check.h"

struct results {
    int sum, bits, greatest, pair;
    double real, imaginary;
    cuda::std::array<int, 3> list;
};

__host__ __device__ cuda::std::optional<int> halved(int n)
{
    return n % 2 == 0 ? cuda::std::optional<int>(n / 2) : cuda::std::nullopt;
}

__host__ __device__ int total(cuda::std::span<const int> all)
{
    int sum = 0;
    for (int one : all)
        sum += one;
    return sum;
}

__host__ __device__ void compute(results *r)
{
    cuda::std::array<int, 4> a = {1, 2, 3, 4};
    cuda::std::complex<double> z(1, 2), w = z * z + cuda::std::conj(z);
    auto both = cuda::std::make_tuple(7, 'x', 2.5);

    r->sum = total(cuda::std::span<const int>(a.data(), a.size())) + halved(8).value() +
             halved(7).value_or(100);
    r->bits = cuda::std::popcount(0xf0f0u) + cuda::std::countl_zero(1u);
    r->greatest = cuda::std::numeric_limits<int>::max();
    r->pair = cuda::std::get<0>(both) + (cuda::std::get<1>(both) == 'x');
    r->real = w.real();
    r->imaginary = w.imag();
    r->list = {3, 2, 1};
}

__global__ void on_device(results *r, cuda::std::atomic<int> *count)
{
    __shared__ cuda::binary_semaphore<cuda::thread_scope_block> lock;
    __shared__ int plain;

    if (threadIdx.x == 0) {
        compute(r);
        new (&lock) cuda::binary_semaphore<cuda::thread_scope_block>(1);
        plain = 0;
    }
    __syncthreads();
    count->fetch_add(2);
    lock.acquire();
    plain = plain + 1;
    lock.release();
    __syncthreads();
    if (threadIdx.x == 0)
        count->fetch_add(plain);
}

int main()
{
    results host, *device;
    cuda::std::atomic<int> *count;

    compute(&host);
    DO(cudaMallocManaged(&device, sizeof *device));
    DO(cudaMallocManaged(&count, sizeof *count));
    new (count) cuda::std::atomic<int>(0);
    on_device<<<1, 40>>>(device, count);
    DO(cudaDeviceSynchronize());
    CHECK(count->load() == 120);
    CHECK(device->sum == host.sum && host.sum == 10 + 4 + 100);
    CHECK(device->bits == host.bits && host.bits == 8 + 31);
    CHECK(device->greatest == 2147483647 && device->pair == 8);
    CHECK(device->real == -2 && device->imaginary == 2 && host.imaginary == 2);
    CHECK(device->list == host.list);
    std::puts("the standard library on a GPU");
    return 0;
}
