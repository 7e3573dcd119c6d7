/* SPDX-License-Identifier: MIT
 * atomics.cu: atomics on global and shared memory.
 */
#include <cstdio>
__global__ void histogram(unsigned *bins, const unsigned *in, float *sum)
{
    __shared__ unsigned most;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        most = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++)
        atomicAdd(&bins[in[i + k * 1024] % 64], 1u);
    atomicMax(&most, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(sum, (float)most / 7);
}
int main()
{
    unsigned *p, h[64 + 1 + 4096];
    for (int i = 0; i < 4096; i++)
        h[65 + i] = i * 2654435761u >> 8;
    h[64] = 0;
    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault);
    histogram<<<8, 128>>>(p, p + 65, (float *)p + 64);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault);
    for (int i = 0; i < 65; i++)
        printf("%x\n", h[i]);
}
