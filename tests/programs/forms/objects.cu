/* SPDX-License-Identifier: MIT
 * objects.cu: variables, constants, and structures as arguments.
 */
#include <cstdio>
struct Part {
    float *out;
    const float *in;
    int n;
    float factor[4];
    char more;
};
__device__ int visits;
__device__ float table[256];
__constant__ float weight[16];
__managed__ int seen[64];
static __constant__ const float fixed[4] = {1, 2, 3, 4};
__global__ void weighted(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < 16; k++)
        sum += weight[k] * in[i + k];
    out[i] = sum + table[threadIdx.x];
    table[threadIdx.x] = sum / 2;
}
__global__ void marked(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = seen[i % 64] + fixed[i % 4];
    seen[i % 64] = i;
}
__global__ void visited(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = table[5] + weight[3];
    atomicAdd(&visits, 3);
}
__global__ void parted(Part part)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = part.in[i] * part.factor[2];
    __syncthreads();
    for (int k = 0; k < part.more; k++) {
        float v = s[(t + k) % 64];
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (i < part.n)
        part.out[i] = s[63 - t] + part.factor[i % 4];
}
__global__ void beside(Part part, int to) // a place behind `weight` in the last block
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part.out[i] = weight[i / to];
}
__global__ void changed(Part part)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part.factor[i % 4] += part.in[i];
    part.out[i] = part.factor[i % 3];
}
int main()
{
    const int n = 512;
    float *p, h[2 * n], w[16], t[256] = {0};
    int count;
    for (int i = 0; i < 2 * n; i++)
        h[i] = (float)(i * 37 % 101);
    for (int i = 0; i < 16; i++)
        w[i] = 1.0f / (i + 1);
    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault);
    cudaMemcpyToSymbol(weight, w, sizeof w);
    cudaMemcpyToSymbol(table, t, sizeof t);
    Part part = {p + n, p, n - 7, {1, 2, 3, 4}, 3};
    weighted<<<8, 64>>>(p + n, p, n - 16);
    marked<<<8, 64>>>((int *)p);
    visited<<<8, 64>>>((int *)p + n / 2);
    parted<<<8, 64>>>(part);
    changed<<<8, 64>>>(part);
    beside<<<8, 64>>>(part, 30);
    printf("%d\n", cudaDeviceSynchronize());
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault);
    cudaMemcpyFromSymbol(t, table, sizeof t);
    cudaMemcpyFromSymbol(&count, visits, 4);
    for (int i = 0; i < 2 * n; i++)
        printf("%a\n", h[i]);
    for (int i = 0; i < 64; i++)
        printf("%a %d %d\n", t[i], seen[i], count);
}
