/* SPDX-License-Identifier: MIT
 * unrolled.cu: kernels as a compiler leaves them that unrolls loops and makes additions of products
 * (nvcc): their loops over threads shall be vectors, too.
 */
#include <cstdio>
/* What each thread adds to in each round starts with its own number. */
__global__ void added(float *out, const float *in, int n, int rounds)
{
    __shared__ float s[64];
    int t = threadIdx.x, at = blockIdx.x * 64 + t;
    float sum = 0;
    for (int k = 0; k < rounds; k++) {
        s[t] = sqrtf(in[at]);
        __syncthreads();
        sum += s[63 - t];
        __syncthreads();
        at += n;
    }
    out[blockIdx.x * 64 + t] = sum;
}
/* In a round of four, too; and downwards, by a step of each block's. */
__global__ void by_fours(float *out, const float *in, unsigned n, int rounds)
{
    unsigned at = blockIdx.x * 64 + threadIdx.x, down = at + 4 * n * rounds;
    float sum = 0;
    for (int k = rounds; k > 0; k--) {
        for (int i = 0; i < 4; i++) {
            sum += sqrtf(in[at]);
            at += n;
        }
        down -= n - blockIdx.x % 2;
        __syncthreads();
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum + (float)(down % 61);
}
__device__ float near(float4 me, float4 other)
{
    float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    return other.w / sqrtf(x * x + y * y + z * z + 1e-3f);
}
/* A round is long, and all threads leave the loop after the same one. */
__global__ void long_rounds(float *out, const float4 *body, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = body[i];
    float sum = 0, twice = 0, last = 0;
    for (int j = 0; j < n; j += 4) {
        float a = near(me, body[j]), b = near(me, body[j + 1]), c = near(me, body[j + 2]),
              d = near(me, body[j + 3]);
        twice += last;
        last = a * b + c * d;
        sum += ((a + b) + c) + d;
    }
    out[i] = sum + twice * last;
}
/* As long, but the sum of the round before is needed, too, and the way out is in the middle. */
__global__ void middle(float *out, const float4 *body, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x, j = 0;
    float4 me = body[i];
    float sum = 0, before;
    for (;;) {
        before = sum;
        float a = near(me, body[j]), b = near(me, body[j + 1]), c = near(me, body[j + 2]),
              d = near(me, body[j + 3]);
        sum += (a * b + c) * d;
        j += 4;
        if (j >= n)
            break;
        sum += before;
    }
    out[i] = sum * before;
}
/* Two values become others in each round, and the way out needs them as they were. */
__global__ void passed_on(float *out, const float4 *body, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = body[i];
    float x = me.x, y = me.y, sum = 0, before = 0;
    for (int j = 0; j < n; j += 4) {
        float a = near(me, body[j]) * near(me, body[j + 1]) + near(me, body[j + 2]) * x;
        sum += a * near(me, body[j + 3]) - y;
        before = x;
        x = y;
        y = a;
    }
    out[i] = sum + x - 3 * y + before;
}
#define STEP(k)                                                                                    \
    __syncthreads();                                                                               \
    other = t ^ (k);                                                                               \
    if (other > t && (s[t] > s[other]) == !(t & 2 * (k))) {                                        \
        float x = s[t];                                                                            \
        s[t] = s[other];                                                                           \
        s[other] = x;                                                                              \
    }
#define STEPS STEP(1) STEP(2) STEP(1) STEP(4) STEP(2) STEP(1) STEP(8) STEP(4) STEP(2) STEP(1)
/* Many places with accesses, each of which is counted. */
__global__ void steps(float *out, const float *in)
{
    __shared__ float s[64];
    int t = threadIdx.x, other;
    s[t] = in[blockIdx.x * 64 + t];
    STEPS STEPS __syncthreads();
    out[blockIdx.x * 64 + t] = s[t];
}
int main()
{
    const int n = 512;
    float *p, h[8 * n];
    for (int i = 0; i < 8 * n; i++)
        h[i] = (float)(i * 37 % 101) / 64;
    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault);
    added<<<8, 64>>>(p + 6 * n, p, n, 5);
    by_fours<<<8, 64>>>(p + 7 * n, p, n / 4, 5);
    long_rounds<<<4, 64>>>(p + 5 * n, (float4 *)p, n);
    middle<<<4, 64>>>(p + 5 * n + n / 2, (float4 *)p, 8);
    middle<<<4, 64>>>(p + 4 * n, (float4 *)p, 4);
    passed_on<<<4, 64>>>(p + 4 * n + n / 2, (float4 *)p, 12);
    steps<<<8, 64>>>(p + 4 * n, p + 6 * n);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault);
    for (int i = 0; i < 8 * n; i++)
        printf("%a\n", h[i]);
}
