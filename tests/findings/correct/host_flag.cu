// SPDX-License-Identifier: MIT
// host_flag.cu: kernels on all GPUs wait for a word of pinned memory that the host stores last.
#include "correct.h"

__global__ void take(int *to, const int *value, const int *go)
{
    if (threadIdx.x == 0)
        while (*(volatile const int *)go == 0)
            ;
    __syncthreads();
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        to[i] = *value + i;
}

int main()
{
    struct gpu g[GPUS];
    int wrong = 0, *word;
    count_gpus();
    CHECK(cudaMallocHost((void **)&word, 2 * sizeof(int)));
    word[0] = word[1] = 0;
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        take<<<1, BLOCK, 0, g[d].stream>>>(g[d].a, word, word + 1);
        CHECK(cudaGetLastError());
    }
    word[0] = 42;
    __sync_synchronize();
    *(volatile int *)(word + 1) = 1;
    sync_all();
    for (int d = 0; d < gpus; d++) {
        wrong += wrong_from(g[d].a, 42, 1);
        free_gpu(d, &g[d]);
    }
    CHECK(cudaFreeHost(word));
    return wrong != 0;
}
