// SPDX-License-Identifier: MIT
// copy_async.cu: each GPU pushes its part to GPU 0 by an asynchronous copy on its own stream; GPU 0
// waits for the events that follow the copies.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    int wrong = 0, *all;
    begin();
    all = zeros_on(0, GPUS * N);
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 10 * d);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyPeerAsync(all + d * N, 0, g[d].a, d, N * sizeof(int), g[d].stream));
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
    }
    CHECK(cudaSetDevice(0));
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaStreamWaitEvent(g[0].stream, g[d].done, 0));
        add<<<BLOCKS, BLOCK, 0, g[0].stream>>>(g[0].b, all + d * N);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(g[0].stream));
    wrong = wrong_from(g[0].b, 10 * gpus * (gpus - 1) / 2, gpus);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    CHECK(cudaFree(all));
    return end(wrong);
}
