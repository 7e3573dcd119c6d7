// SPDX-License-Identifier: MIT
// program.cu: what nvcc's host code and device code use together: constants, variables of each
// kind, templates, printf, structures as parameters, shared memory, warps, half precision, a
// cooperative grid. Prints the same by both compilers.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <stdio.h>

struct pair {
    int first;
    double second;
    char name[5];
};

__constant__ float factors[2];
__device__ int counter;
__managed__ int shown = 5;

__device__ __noinline__ pair doubled(pair p, int by)
{
    p.first *= by;
    p.second += by;
    return p;
}

template <typename T> __global__ void scale(T *to, const T *from, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        to[i] = from[i] * (T)factors[0] + (T)factors[1];
        atomicAdd(&counter, 1);
    }
    if (i == 0) {
        printf("scale of %d, %g\n", n, (double)factors[1]);
        shown++;
    }
}

__global__ void sums(int *to, pair p)
{
    extern __shared__ int dynamic[];
    __shared__ int all[64];
    int lane = (int)threadIdx.x % 32, value = (int)threadIdx.x + p.name[0];
    for (int by = 16; by > 0; by /= 2)
        value += __shfl_xor_sync(0xffffffff, value, by);
    all[threadIdx.x] = value;
    dynamic[threadIdx.x] = __popc(__ballot_sync(0xffffffff, lane < p.first));
    __syncthreads();
    p = doubled(p, 3);
    to[threadIdx.x] = all[63 - threadIdx.x] + dynamic[threadIdx.x] + p.first + (int)p.second;
}

__global__ void halves(float *to, float value)
{
    __half2 both = __floats2half2_rn(value, 0.1f);
    both = __hfma2(both, both, __float2half2_rn(0.3f));
    to[0] = __low2float(both);
    to[1] = __high2float(both);
}

__global__ void grid(int *to)
{
    auto all = cooperative_groups::this_grid();
    to[blockIdx.x] = (int)blockIdx.x + 1;
    all.sync();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int i = 1; i < (int)gridDim.x; i++)
            to[0] += to[i];
}

int main()
{
    enum { COUNT = 1000 };
    static float in[COUNT], out[COUNT];
    float *a, *b, constants[2] = {2, 3};
    int numbers[64], *c, count;
    pair p = {4, 2.5, "abcd"};

    for (int i = 0; i < COUNT; i++)
        in[i] = (float)i;
    cudaMalloc(&a, sizeof in);
    cudaMalloc(&b, sizeof in);
    cudaMalloc(&c, sizeof numbers);
    cudaMemcpy(b, in, sizeof in, cudaMemcpyDefault);
    cudaMemcpyToSymbol(factors, constants, sizeof constants);
    scale<float><<<8, 128>>>(a, b, COUNT);
    cudaMemcpy(out, a, sizeof out, cudaMemcpyDefault);
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    printf("%g %g, %d counted, %d shown\n", out[1], out[999], count, shown);
    sums<<<1, 64, 64 * sizeof(int)>>>(c, p);
    cudaMemcpy(numbers, c, sizeof numbers, cudaMemcpyDefault);
    printf("%d %d %d\n", numbers[0], numbers[31], numbers[63]);
    halves<<<1, 1>>>(a, 1.7f);
    cudaMemcpy(out, a, 8, cudaMemcpyDefault);
    printf("%.6f %.6f\n", out[0], out[1]);
    void *arguments[] = {&c};
    cudaLaunchCooperativeKernel((const void *)grid, dim3(8), dim3(32), arguments, 0, 0);
    cudaMemcpy(numbers, c, sizeof numbers, cudaMemcpyDefault);
    printf("%d, %s\n", numbers[0], cudaGetErrorString(cudaGetLastError()));
    return 0;
}
