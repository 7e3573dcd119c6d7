// SPDX-License-Identifier: MIT
// Products of bytes that are chosen by comparing 64-bit numbers: with vectors of 256 bits LLVM 14
// and 15 end with "Cannot select ... v16i16 = X86ISD::BLENDV" (nccl-tests' verifiable.cu has such
// loops).
// prints: right right
#include <stdio.h>

static __host__ __device__ unsigned char product(unsigned long long i, int rounds)
{
    unsigned char p = 1;
#pragma unroll 1
    for (int k = 0; k < rounds; k++)
        p *= (i ^ k) * 0x9E3779B97F4A7C15 == 99 * 0x9E3779B97F4A7C15 ? 83 : 165;
    return p;
}
__global__ void products(unsigned char *out, int n)
{
    unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = product(i, n + (int)(threadIdx.x % 2));
}
__global__ void sums(float *out, const float *in) // which has nothing to do with it
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + i;
}

int main()
{
    static unsigned char bytes[1024];
    static float numbers[1024];
    bool right = true, sum = true;
    float *p;
    cudaMalloc(&p, sizeof numbers);
    cudaMemset(p, 0, sizeof numbers);
    sums<<<4, 256>>>(p, p);
    cudaMemcpy(numbers, p, sizeof numbers, cudaMemcpyDefault);
    products<<<4, 256>>>((unsigned char *)p, 100);
    cudaMemcpy(bytes, p, sizeof bytes, cudaMemcpyDefault);
    for (int i = 0; i < 1024; i++) {
        right &= bytes[i] == product((unsigned long long)i, 100 + i % 2);
        sum &= numbers[i] == (float)i;
    }
    printf("%s %s\n", right ? "right" : "wrong", sum ? "right" : "wrong");
}
