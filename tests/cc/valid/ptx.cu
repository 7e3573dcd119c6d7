// SPDX-License-Identifier: MIT
// The inline PTX that has a meaning here, as programs write it; a trap is error 719.
// prints: ptx: 1, then 719
#include <cuda_runtime.h>
#include <stdio.h>

__device__ unsigned long long now()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

__device__ inline unsigned long long cycles()
{
    unsigned long long t = 0, pair[2];
    asm volatile("mov.u64 %0,%%clock64;" : "=l"(t)::"memory");
    asm("mov.u64 %0, %%clock64;" : "=l"(pair[t > 0]));
    return pair[t > 0];
}

__global__ void clocks(int *right)
{
    unsigned long long t = now(), c = cycles();
    __asm__ __volatile__("membar.gl;" ::: "memory");
    asm volatile("membar.sys;");
    *right = now() >= t && cycles() > c;
}

#define TRAP asm("trap;")

__global__ void stop()
{
    TRAP;
}

// No address is one of multicast memory: it compiles, and would trap.
__global__ void multicast(float *at)
{
    float sum;
    asm volatile("multimem.ld_reduce.global.add.f32 %0, [%1];" : "=f"(sum) : "l"(at));
    *at = sum;
}

int main()
{
    int *d, h = 0;

    cudaMalloc((void **)&d, sizeof *d);
    clocks<<<1, 1>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    if (h > 1)
        multicast<<<1, 1>>>((float *)d);
    stop<<<1, 1>>>();
    printf("ptx: %d, then %d\n", h, (int)cudaDeviceSynchronize());
    return 0;
}
