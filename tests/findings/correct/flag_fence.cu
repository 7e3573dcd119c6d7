// SPDX-License-Identifier: MIT
// flag_fence.cu: a running kernel hands data to a running kernel of the next GPU: peer stores, a
// fence of the system's scope, a flag.
#include "correct.h"

__global__ void pass_on(const int *inbox, const int *full, int *outbox, int *full_out, int base)
{
    if (full && threadIdx.x == 0)
        while (*(volatile const int *)full == 0)
            ;
    __syncthreads();
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        outbox[i] = full ? inbox[i] + 1 : base + i;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *(volatile int *)full_out = 1;
}

int main()
{
    struct gpu g[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        struct gpu *to = &g[(d + 1) % gpus];
        CHECK(cudaSetDevice(d));
        pass_on<<<1, BLOCK, 0, g[d].stream>>>(g[d].a, d ? g[d].b : NULL, to->a, to->b, 20);
        CHECK(cudaGetLastError());
    }
    sync_all();
    int wrong = wrong_from(g[0].a, 20 + gpus - 1, 1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
