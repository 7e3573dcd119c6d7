// SPDX-License-Identifier: MIT
// A lambda of device code that names threadIdx and its like, and nothing of the host's.
// prints: lambda indices: 0
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void fill(int *out, int factor)
{
    auto put = [&](bool all) {
        int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
        if (all || i % 2 == 0)
            out[i] = factor * i + (int)gridDim.x + warpSize;
    };
    put(factor > 0);
}

int main()
{
    int *d, h[128], wrong = 0;

    cudaMalloc((void **)&d, sizeof h);
    fill<<<2, 64>>>(d, 3);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; i++)
        wrong += h[i] != 3 * i + 2 + 32;
    printf("lambda indices: %d\n", wrong);
    return 0;
}
