/* SPDX-License-Identifier: MIT
 * edges.cu: blocks that reach beyond the edge of their data.
 */
#include <cstdio>
__global__ void halved(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    out[y * width + x] = in[y * width + x] / 2;
}
__global__ void turned(float *out, const float *in, int n) // the edge is behind the barrier
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n)
        out[i] = s[63 - t];
}
__global__ void left(float *out, const float *in, int n) // some do not come to the barrier
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i >= n)
        return;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[t ^ 1] + s[t];
}
int main()
{
    const int width = 300, height = 70, n = width * height;
    static float h[n];
    float *p, *q;
    for (int i = 0; i < n; i++)
        h[i] = (float)(i * 37 % 101);
    cudaMalloc(&p, sizeof h);
    cudaMalloc(&q, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault);
    cudaMemset(q, 0, sizeof h);
    halved<<<dim3(20, 6), dim3(16, 16)>>>(q, p, width, height); // the last row of blocks is outside
    turned<<<8, 64>>>(p, q, 500);
    left<<<8, 64>>>(p + 1000, q, 500);
    cudaMemcpy(h, q, sizeof h, cudaMemcpyDefault);
    for (int i = 0; i < n; i += 7)
        printf("%a\n", h[i]);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault);
    for (int i = 0; i < 2000; i++)
        printf("%a\n", h[i]);
}
