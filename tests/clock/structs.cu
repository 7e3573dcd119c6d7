// SPDX-License-Identifier: MIT
// structs.cu: kernels that copy structs as a whole, which a compiler may leave as memcpy, or make
// loads and stores of any width: structs. The bytes that each kernel moved are in the trace.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static const int COUNT = 256;

template <int BYTES> struct block {
    char at[BYTES];
};

template <int BYTES> __global__ void copy(block<BYTES> *to, const block<BYTES> *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

// Through a variable of the thread's own, which is no memory that counts.
template <int BYTES> __global__ void by_value(block<BYTES> *to, const block<BYTES> *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    block<BYTES> own = from[i];
    to[i] = own;
}

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

template <int BYTES> static void run()
{
    block<BYTES> *from, *to;
    check(cudaMalloc(&from, COUNT * sizeof *from));
    check(cudaMalloc(&to, COUNT * sizeof *to));
    check(cudaMemset(from, 1, COUNT * sizeof *from));
    copy<BYTES><<<COUNT / 64, 64>>>(to, from);
    by_value<BYTES><<<COUNT / 64, 64>>>(to, from);
    check(cudaDeviceSynchronize());
    printf("%d\n", BYTES);
}

int main()
{
    run<4>();
    run<12>();
    run<100>();
    run<256>();
    run<4096>();
    run<20000>();
    return 0;
}
