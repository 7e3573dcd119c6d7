// SPDX-License-Identifier: MIT
// system_atomics.cu: kernels on all GPUs count in one word, by atomics of the system's scope.
#include "correct.h"

__global__ void count(int *n, int *bins)
{
    if (me() < N) {
        atomicAdd_system(n, 1);
        atomicAdd_system(bins + me() % 10, 1);
    }
}

int main()
{
    struct gpu g[GPUS];
    int wrong, counts[11];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        count<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[0].a, g[0].a + 1);
        CHECK(cudaGetLastError());
    }
    sync_all();
    CHECK(cudaMemcpy(counts, g[0].a, sizeof counts, cudaMemcpyDeviceToHost));
    wrong = counts[0] != gpus * N;
    for (int i = 1; i <= 10; i++)
        wrong += counts[i] != gpus * N / 10;
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
