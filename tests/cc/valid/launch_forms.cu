// SPDX-License-Identifier: MIT
// Every way to write a launch. Each adds its number of threads to one counter.
// prints: 1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768
#include <stdio.h>
#include <cuda_runtime.h>

template <int N> struct box {
    static const int value = N;
};
template <class T> struct wrap {
    static const int value = T::value;
};
template <class T> __host__ __device__ int pick(int n)
{
    return n + 0 * T::value;
}

__global__ void add(unsigned *sum, unsigned n)
{
    atomicAdd(sum, n);
}

namespace deep { namespace er {
__global__ void add(unsigned *sum, unsigned n)
{
    atomicAdd(sum, n);
}
} }

template <class T, int N> __global__ void add_template(unsigned *sum, T n)
{
    atomicAdd(sum, (unsigned)n * N);
}

struct kernels {
    void (*k)(unsigned *, unsigned);
    static int grid() { return 1; }
};

#define LAUNCH(kernel, ...) kernel<<<1, 1>>>(__VA_ARGS__)
#define CONFIGURATION <<<1, 1>>>
#define KERNEL_NAME add
#define CHECK(call)                                                                                \
    do {                                                                                           \
        call;                                                                                      \
        if (cudaGetLastError() != cudaSuccess)                                                     \
            printf("failed at %d\n", __LINE__);                                                    \
    } while (0)
#define TWICE(...) __VA_ARGS__ __VA_ARGS__

int main()
{
    unsigned *sum, host = 0;
    cudaStream_t stream;
    int n = 8, one = 1;
    dim3 grid(1), block(1);
    kernels table = {add};
    void (*pointer)(unsigned *, unsigned) = deep::er::add;

    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    cudaDeviceSynchronize();

    add<<<1, 1>>>(sum, 1);
    add<<<dim3(1, 1), dim3{1}, 0, stream>>>(sum, 2);
    ::add<<<grid, block>>>(sum, 4);
    deep::er::add<<<(n > 4 ? 1 : 2), n < 9 ? 1 : 2>>>(sum, 8);
    add<<<n >> 3, pick<wrap<wrap<box<3>>>>(1)>>>(sum, 16);
    add_template<int, 1><<<1, pick<box<1>>(one)>>>(sum, 32);
    add_template<unsigned, (8 > 4 ? 1 : 2)><<< /* grid */ 1, // block
                                             1 /* >>>( in a comment */>>>(sum, 64);
    LAUNCH(add, sum, 128);
    CHECK((add<<<1, 1>>>(sum, 256)));
    CHECK(LAUNCH(::deep::er::add, sum, 512));
    KERNEL_NAME CONFIGURATION(sum, 1024);
    if (n == 8) add<<<1, 1>>>(sum, 2048); else add<<<1, 1>>>(sum, 1);
    for (int i = 0; i < 2; i++) add
        <<<
            1,
            \
            1
        >>>
        (sum,
         2048);
    table.k<<<kernels::grid(), 1>>>(sum, 8192);
    (&table)->k<<<1, 1>>>(sum, 8192), (*pointer)<<<1, 1>>>(sum, 1);
    [&] { pointer<<<1, 1>>>(sum, 16383); }();
    auto launch = [=](auto... size) { add<<<size...>>>(sum, 16384); };
    launch(1, 1);
    TWICE(add<<<1, 1>>>(sum, 8192);)

    cudaDeviceSynchronize();
    cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost);
    for (int bit = 0; bit < 16; bit++)
        printf(bit < 15 ? "%u " : "%u\n", 1u << bit);
    return host == 73727 ? 0 : 1;
}
