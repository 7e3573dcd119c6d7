// SPDX-License-Identifier: MIT
// kernel_barrier.cu: a barrier of running kernels over all GPUs: each counts its arrivals up in a
// word of its own, which the others poll.
#include "correct.h"

struct words {
    int *at[GPUS];
};

__device__ void barrier(struct words arrived, int mine, int all, int round)
{
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *(volatile int *)arrived.at[mine] = round;
    if (threadIdx.x < all)
        while (*(volatile int *)arrived.at[threadIdx.x] < round)
            ;
    __syncthreads();
}

__global__ void rotate(struct words value, struct words arrived, int mine, int all)
{
    for (int round = 0; round < 3; round++) {
        int next = value.at[(mine + 1) % all][threadIdx.x];
        barrier(arrived, mine, all, 2 * round + 1);
        value.at[mine][threadIdx.x] = next;
        barrier(arrived, mine, all, 2 * round + 2);
    }
}

int main()
{
    struct gpu g[GPUS];
    struct words value, arrived;
    int wrong = 0, got[32];
    begin();
    for (int d = 0; d < gpus; d++) {
        g[d] = make_gpu(d);
        value.at[d] = g[d].a;
        arrived.at[d] = g[d].b;
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 1000 * d);
        CHECK(cudaGetLastError());
    }
    sync_all();
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        rotate<<<1, 32, 0, g[d].stream>>>(value, arrived, d, gpus);
        CHECK(cudaGetLastError());
    }
    sync_all();
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaMemcpy(got, g[d].a, sizeof got, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 32; i++)
            wrong += got[i] != 1000 * ((d + 3) % gpus) + i;
    }
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
