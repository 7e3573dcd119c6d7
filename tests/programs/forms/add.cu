/* SPDX-License-Identifier: MIT
 * add.cu: each thread adds 1 to a number of its own.
 */
__global__ void add(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    add<<<4, 256>>>(p);
    return cudaDeviceSynchronize();
}
