/* SPDX-License-Identifier: MIT
 * sums.cu: an ordinary program: every GPU sums its part in shared memory, with shuffles, with
 * printf, with a __device__ counter; times by events. Its output is the same in every run, times
 * included.
 */
#include "check.h"

#define N (1 << 18)
#define BLOCK 256

__device__ unsigned int finished;
__constant__ float scale;

__global__ void sum(const float *data, int n, float *out)
{
    __shared__ float part[BLOCK / 32];
    float mine = 0;
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += (int)(gridDim.x * blockDim.x))
        mine += data[i] * scale;
    for (int step = 16; step > 0; step /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0;
        for (int w = 0; w < BLOCK / 32; w++)
            all += part[w];
        out[blockIdx.x] = all;
        if (atomicAdd(&finished, 1u) == gridDim.x - 1)
            printf("last block done of %u\n", gridDim.x);
    }
}

static float host[N];

int main(void)
{
    int n;
    float factor = 0.5f, total = 0;
    MUST(cudaGetDeviceCount(&n));
    for (int i = 0; i < N; i++)
        host[i] = (float)(i % 7);
    for (int d = 0; d < n; d++) {
        float *data, *out, blocks[32], ms;
        cudaEvent_t start, stop;
        unsigned int count;
        int part = N / n;
        MUST(cudaSetDevice(d));
        MUST(cudaMalloc((void **)&data, part * sizeof(float)));
        MUST(cudaMalloc((void **)&out, sizeof blocks));
        MUST(cudaEventCreate(&start));
        MUST(cudaEventCreate(&stop));
        MUST(cudaMemcpyToSymbol(scale, &factor, sizeof factor));
        MUST(cudaMemcpy(data, host + (size_t)d * part, part * sizeof(float),
                        cudaMemcpyHostToDevice));
        MUST(cudaEventRecord(start));
        sum<<<32, BLOCK>>>(data, part, out);
        MUST(cudaGetLastError());
        MUST(cudaEventRecord(stop));
        MUST(cudaMemcpy(blocks, out, sizeof blocks, cudaMemcpyDeviceToHost));
        MUST(cudaEventElapsedTime(&ms, start, stop));
        MUST(cudaMemcpyFromSymbol(&count, finished, sizeof count));
        HOLDS(count == 32, "GPU %d: %u blocks counted", d, count);
        for (int b = 0; b < 32; b++)
            total += blocks[b];
        printf("GPU %d: %.3f us\n", d, ms * 1000);
        MUST(cudaFree(data));
        MUST(cudaFree(out));
        MUST(cudaEventDestroy(start));
        MUST(cudaEventDestroy(stop));
    }
    printf("total %.1f\n", total);
    return 0;
}
