// SPDX-License-Identifier: MIT
// flag.cu: GPU 0 stores numbers into GPU 1's memory, then a flag; GPU 1 waits for the flag.
#include <stdio.h>

#ifndef FENCE
#define FENCE __threadfence_system
#endif
enum { N = 64 };

__global__ void send(volatile int *data, volatile int *flag)
{
    data[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        FENCE();
        *flag = 1;
    }
}

__global__ void receive(volatile int *data, volatile int *flag, int *old)
{
    if (threadIdx.x == 0) {
        while (*flag == 0)
            ;
        __threadfence_system();
    }
    __syncthreads();
    atomicAdd(old, data[threadIdx.x] == 0);
}

int main(void)
{
    int *memory, old;
    cudaSetDevice(1);
    cudaMalloc(&memory, (N + 2) * sizeof *memory); // the data, the flag, a counter
    cudaMemset(memory, 0, (N + 2) * sizeof *memory);
    cudaDeviceSynchronize();
    receive<<<1, N>>>(memory, memory + N, memory + N + 1);
    cudaSetDevice(0);
    cudaDeviceEnablePeerAccess(1, 0);
    send<<<1, N>>>(memory, memory + N);
    cudaSetDevice(1);
    cudaMemcpy(&old, memory + N + 1, sizeof old, cudaMemcpyDefault);
    if (old)
        printf("of %d numbers, some are old\n", N);
    else
        printf("the data have arrived\n");
    return old != 0;
}
