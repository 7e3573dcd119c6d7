/* SPDX-License-Identifier: MIT
 * rounds.cu: where the accesses of different threads may not change places, and where they may.
 */
#include <cstdio>
__global__ void product(float *c, const float *a, const float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
__global__ void before(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = out[i];
    for (int k = 0; k < n; k++)
        sum += in[k];
    out[i + 1] = sum; // which the next thread has read, or has not
}
__global__ void rounds(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < m; j++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += in[k * n + i];
        out[i + j] = sum; // several threads store there
    }
}
__global__ void bodies(float4 *force, const float4 *body, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i], sum = {0, 0, 0, 0};
    for (int j = 0; j < n; j++) {
        float4 other = body[j];
        float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
        float near = 1.0f / sqrtf(x * x + y * y + z * z + 1e-3f), pull = other.w * near;
        sum.x += pull * x;
        sum.y += pull * y;
        sum.z += pull * z;
    }
    force[i] = sum;
}
int main()
{
    const int n = 128;
    float *p, h[3 * n * n + 8];
    for (int i = 0; i < 3 * n * n + 8; i++)
        h[i] = (float)(i % 17) / 64;
    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault);
    for (int from = 0; from < 3; from++) // apart, the output in the first operand, in the second
        product<<<dim3(n / 16, n / 4), dim3(16, 4)>>>(p + n * n * (from % 3), p + n * n,
                                                      p + 2 * n * n, n);
    product<<<dim3(n / 16, n / 4), dim3(16, 4)>>>(p + 7, p, p, n);
    before<<<4, 64>>>(p, p + n, 40);
    before<<<4, 64>>>(p, p, 40);
    rounds<<<2, 64>>>(p, p + n * n, n, 5);
    bodies<<<4, 128>>>((float4 *)p, (float4 *)(p + n * n), 4 * n);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault);
    for (int i = 0; i < 3 * n * n + 8; i++)
        printf("%a\n", h[i]);
}
