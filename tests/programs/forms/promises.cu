/* SPDX-License-Identifier: MIT
 * promises.cu: kernels that break a promise: of __restrict__, of barriers that all threads come to.
 */
#include <cstdio>
__global__ void behind(int *__restrict__ to, const int *__restrict__ from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i + 1] = from[i] + 1; // where the next thread reads
}
__global__ void apart(int *p, int n, int m)
{
    __shared__ int s[64];
    int t = threadIdx.x, k = 0, rounds = n, v = p[blockIdx.x * 64 + t];
    if (t % 2) {
        p[512 + t] = v;
        rounds = m;
    }
    do {
        s[t] = v;
        __syncthreads();
        v += s[(t + 1) % 64];
    } while (++k < rounds);
    p[blockIdx.x * 64 + t] = v;
}
int main()
{
    int *p, h[512];
    cudaMalloc(&p, 4096);
    cudaMemset(p, 1, 4096);
    behind<<<8, 64>>>(p, p);
    apart<<<8, 64>>>(p, 2, 3);
    printf("%d", cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault));
    for (int i = 0; i < 512; i++)
        printf(" %d", h[i]);
}
