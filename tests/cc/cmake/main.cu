// SPDX-License-Identifier: MIT
#include "parts.h"

#include <cstdio>
#include <cstring>

int expected(int x); // host.cpp

__global__ void run(int *out)
{
    out[threadIdx.x] = scaled((int)threadIdx.x);
}

int main()
{
    int *out, counted = 0;
    cudaMallocManaged(&out, 32 * sizeof *out);
    run<<<1, 32>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    for (int i = 0; i < 32; i++)
        if (out[i] != expected(i))
            return 2;
    cudaMemcpyFromSymbol(&counted, calls, sizeof counted);
    std::printf("%d calls, %s\n", counted, GREETING);
    return counted == 32 && std::strcmp(GREETING, "two words") == 0 ? 0 : 3;
}
