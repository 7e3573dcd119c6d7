/* SPDX-License-Identifier: MIT
 * fresh.cu: a kernel stores to memory that nothing has used so far, 512 KiB a block.
 */
#include <cstdio>

__global__ void fill(unsigned *p)
{
    unsigned *mine = p + blockIdx.x * (128u << 10);
    for (unsigned i = threadIdx.x; i < 128u << 10; i += blockDim.x)
        mine[i] = blockIdx.x + i;
}
int main()
{
    const size_t bytes = 16 << 20;
    static unsigned h[bytes / 4];
    unsigned *p, sum = 0;
    cudaMalloc(&p, bytes);
    fill<<<32, 256>>>(p);
    printf("%d\n", cudaMemcpy(h, p, bytes, cudaMemcpyDefault));
    for (unsigned value : h)
        sum = sum * 31 + value;
    printf("%x\n", sum);
}
