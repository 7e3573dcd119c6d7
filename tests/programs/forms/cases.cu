/* SPDX-License-Identifier: MIT
 * cases.cu: indices that stay inside for each thread and round, though not by their lowest and
 * highest values alone.
 */
#include <cstdio>
__global__ void pairs(int *p) // two numbers a thread
{
    __shared__ int s[256];
    int t = threadIdx.x, at = blockIdx.x * 256;
    s[t] = p[at + t];
    s[t + 128] = p[at + t + 128];
    for (int size = 2; size <= 256; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (d - 1)), high = low + d, a = s[low], b = s[high];
            if ((a > b) == ((low & size) == 0)) {
                s[low] = b;
                s[high] = a;
            }
        }
    __syncthreads();
    p[at + t] = s[t];
    p[at + t + 128] = s[t + 128];
}
__global__ void divided(int *p) // the same network; d is no zero
{
    __shared__ int s[256];
    int t = threadIdx.x, at = blockIdx.x * 256;
    s[t] = p[at + t];
    s[t + 128] = p[at + t + 128];
    for (int size = 2; size <= 256; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int low = t / d * 2 * d + t % d, a = s[low], b = s[low + d];
            if ((a < b) == ((low & size) == 0)) {
                s[low] = b;
                s[low + d] = a;
            }
        }
    __syncthreads();
    p[at + t] = s[t];
    p[at + t + 128] = s[t + 128];
}
__global__ void outside(int *p, int more) // of its part of dynamic memory, in one case
{
    extern __shared__ int e[];
    int t = threadIdx.x;
    e[t] = t;
    e[t + 128] = -t;
    __syncthreads();
    for (int d = 1; d <= 64; d *= 2)
        p[blockIdx.x * 256 + t] += e[2 * t - (t & (d - 1)) + (d == 1 ? more : 0)];
}
int main()
{
    const int n = 64 * 256;
    static int h[n];
    int *p;
    for (int i = 0; i < n; i++)
        h[i] = (int)(i * 2654435761u >> 8);
    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault);
    pairs<<<64, 128>>>(p);
    divided<<<64, 128>>>(p);
    outside<<<64, 128, 1024>>>(p, 1);
    outside<<<64, 128, 1024>>>(p, 2);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault);
    for (int i = 0; i < n; i++)
        printf("%d\n", h[i]);
}
