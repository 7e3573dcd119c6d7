// SPDX-License-Identifier: MIT
__global__ void add(int *p, int n)
{
    atomicAdd(p, n);
}

extern "C" int sum_on_gpu(int blocks)
{
    int *p, sum = -1;
    if (cudaMalloc(&p, sizeof *p) != cudaSuccess)
        return -1;
    cudaMemset(p, 0, sizeof *p);
    add<<<blocks, 4>>>(p, 2);
    cudaMemcpy(&sum, p, sizeof sum, cudaMemcpyDefault);
    cudaFree(p);
    return sum;
}
