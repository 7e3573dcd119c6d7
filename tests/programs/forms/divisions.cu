/* SPDX-License-Identifier: MIT
 * divisions.cu: divisors that are other ones in each thread, and some of them zero; and a function
 * that is long enough not to be inlined.
 */
#include <cstdio>

__global__ void halves(unsigned *to, const unsigned *from, const unsigned *by, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        to[2 * i] = from[i] / by[i];
        to[2 * i + 1] = from[i] % by[i];
    }
}

__global__ void signs(int *to, const int *from, const int *by, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        to[2 * i] = from[i] / by[i];
        to[2 * i + 1] = from[i] % by[i];
    }
}

__device__ __noinline__ unsigned mixed(unsigned x, unsigned ranks)
{
    for (int k = 0; k < 3; k++) {
        unsigned part = x / ranks, y = (x * 2654435761u) >> 7, parts = 2 * (y / ranks) - 1;
        parts = ranks < parts ? ranks : parts;
        x = y / (parts * (parts + 1) / 2) + part % (1 + (x & 15));
    }
    return x;
}

struct Nothing {
};

__global__ void made(unsigned *to, Nothing, int n, unsigned ranks)
{
    int first = blockIdx.x * (n / gridDim.x), end = (blockIdx.x + 1) * (n / gridDim.x);
    for (int i = first + threadIdx.x; i < end; i += blockDim.x)
        to[i] = mixed(i * 97u + 1, ranks);
}

static const unsigned numbers[] = {0,          1,          2,          3,          7,
                                   10,         65535,      65536,      0x7fffffff, 0x80000000,
                                   0x80000001, 0xfffffffe, 0xffffffff, 1000000007, 0xfffffff1};

int main(int argc, char **)
{
    const int count = sizeof numbers / sizeof *numbers, n = count * count;
    static unsigned from[n], by[n], result[4096];
    unsigned *x, *y, *z;
    for (int i = 0; i < n; i++) {
        from[i] = numbers[i / count];
        by[i] = numbers[i % count];
        if (by[i] == 0 && (argc > 1 || i % 64 < 16)) // block 0 is careful
            by[i] = 5;
    }
    cudaMalloc(&x, sizeof from);
    cudaMalloc(&y, sizeof by);
    cudaMalloc(&z, sizeof result);
    cudaMemcpy(x, from, sizeof from, cudaMemcpyDefault);
    cudaMemcpy(y, by, sizeof by, cudaMemcpyDefault);
    for (int which = 0; which < 3; which++) {
        cudaMemset(z, 0, sizeof result);
        if (which == 0)
            halves<<<4, 16>>>(z, x, y, n);
        else if (which == 1)
            signs<<<4, 16>>>((int *)z, (int *)x, (int *)y, n);
        else
            made<<<4, 64>>>(z, Nothing(), 4096, 4);
        printf("%d:", cudaMemcpy(result, z, sizeof result, cudaMemcpyDefault));
        for (unsigned value : result)
            printf(" %x", value);
        printf("\n");
    }
}
