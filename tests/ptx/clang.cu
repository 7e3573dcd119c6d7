// SPDX-License-Identifier: MIT
// clang.cu: device code that Clang makes PTX of without CUDA's headers: its dialect beside nvcc's.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

struct triple {
    int a, b;
    long long c;
};

__constant__ int weights[4] = {1, 10, 100, 1000};
__device__ int total = 7;

__device__ __attribute__((noinline)) triple turned(triple t, int by)
{
    triple to = {t.b + by, t.a - by, t.c * by};
    return to;
}

__device__ __attribute__((noinline)) float mean(const float *from, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += from[i] * 0.5f;
    return sum / (float)n;
}

extern "C" __global__ void kernel(int *to, const int *from)
{
    __shared__ int all[8];
    int i = __nvvm_read_ptx_sreg_tid_x();
    float own[4];

    all[7 - i] = from[i];
    __syncthreads();
    for (int k = 0; k < 4; k++)
        own[(k + i) & 3] = (float)(all[i] + k);
    triple t = turned((triple){all[i], i, 1ll << 33}, from[0]);
    int result = (int)(t.c >> 33) + t.a * 2 + t.b + (int)(mean(own, 4) * 100);
    switch (from[i] & 7) {
    case 0:
        result += weights[i & 3];
        break;
    case 1:
        result -= 3;
        break;
    case 2:
        result *= 5;
        break;
    case 3:
        result ^= 0x55;
        break;
    case 4:
        result += total;
        break;
    case 5:
        result <<= 2;
        break;
    default:
        result = -result;
        break;
    }
    to[i] = result;
}
