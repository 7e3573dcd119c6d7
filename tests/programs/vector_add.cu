// SPDX-License-Identifier: MIT
// vector_add.cu: a fault inside one of our headers, of a file whose name looks like one of theirs.
#include <cstdio>

__global__ void add(int *sum, const int *x)
{
    atomicAdd(sum, x[threadIdx.x]);
}

int main()
{
    int *x;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMemset(x, 0, 32 * sizeof *x);
    add<<<1, 32>>>(nullptr, x);
    printf("%d\n", (int)cudaDeviceSynchronize());
}
