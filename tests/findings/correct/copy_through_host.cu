// SPDX-License-Identifier: MIT
// copy_through_host.cu: by pinned memory from one GPU to the next: two copies in one event's order.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    int *pinned;
    count_gpus();
    CHECK(cudaMallocHost((void **)&pinned, GPUS * N * sizeof(int)));
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        if (d > 0) {
            CHECK(cudaStreamWaitEvent(g[d].stream, g[d - 1].done, 0));
            CHECK(cudaMemcpyAsync(g[d].b, pinned + (d - 1) * N, N * sizeof(int),
                                  cudaMemcpyHostToDevice, g[d].stream));
        }
        copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, g[d].b, 4);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(pinned + d * N, g[d].a, N * sizeof(int), cudaMemcpyDeviceToHost,
                              g[d].stream));
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
    }
    CHECK(cudaEventSynchronize(g[gpus - 1].done));
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += pinned[(gpus - 1) * N + i] != 4 * gpus;
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    CHECK(cudaFreeHost(pinned));
    return wrong != 0;
}
