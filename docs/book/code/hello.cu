// SPDX-License-Identifier: MIT
// hello: every GPU says which one it is.
#include <stdio.h>

__global__ void hello(int gpu)
{
    printf("hello from GPU %d\n", gpu);
}

int main(void)
{
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess)
        return 1;
    for (int gpu = 0; gpu < gpus; gpu++) {
        if (cudaSetDevice(gpu) != cudaSuccess)
            return 1;
        hello<<<1, 1>>>(gpu);
        if (cudaDeviceSynchronize() != cudaSuccess)
            return 1;
    }
    return 0;
}
