// SPDX-License-Identifier: MIT
// sum.cu: a program outside of the labs, for a debugger: see test_debugger.py.
#include <cuda_runtime.h>
#include <stdio.h>

enum { THREADS = 4, BLOCKS = 2, N = THREADS * BLOCKS };

struct scale {
    int by;
    float offset;
};

__constant__ float factor = 2.5f;
__device__ int blocks_done;

__global__ void sum(const float *in, float *out, int n, struct scale scale)
{
    __shared__ float tile[THREADS];
    extern __shared__ float more[];
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = me < n ? in[me] : 0.0f;
    tile[threadIdx.x] = mine;
    more[threadIdx.x] = -mine;
    __syncthreads();
    if (threadIdx.x == 0) { // every thread has stored
        float total = 0.0f;
        for (int i = 0; i < THREADS; i++)
            total += tile[i] * scale.by;
        out[blockIdx.x] = total * factor + scale.offset;
        atomicAdd(&blocks_done, 1);
    }
}

static int finish(const float *result, const int *where)
{
    printf("%g %g\n", (double)result[0], (double)result[1]);
    return *where; // main gives it no place
}

int main(int argc, char **argv)
{
    float *in, *out, host[N], result[BLOCKS];
    struct scale scale = {3, 0.5f};

    (void)argv;
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    cudaMalloc((void **)&in, sizeof host);
    cudaMalloc((void **)&out, sizeof result);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    sum<<<BLOCKS, THREADS, THREADS * sizeof(float)>>>(in, out, N, scale);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    int zero = 0;
    return finish(result, argc > 1 ? NULL : &zero);
}
