// SPDX-License-Identifier: MIT
// halves.cu: two streams of each GPU copy two halves to its neighbour, at the same time as its own
// halves are overwritten from the other side; all read from one buffer and write to another.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    cudaStream_t second[GPUS];
    int wrong = 0;
    begin();
    for (int d = 0; d < gpus; d++) {
        g[d] = make_gpu(d);
        second[d] = stream_on(d);
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 70 * d);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
        CHECK(cudaStreamWaitEvent(second[d], g[d].done, 0));
    }
    for (int d = 0; d < gpus; d++) {
        int to = (d + 1) % gpus, half = N / 2;
        size_t bytes = half * sizeof(int);
        CHECK(cudaMemcpyPeerAsync(g[to].b, to, g[d].a, d, bytes, g[d].stream));
        CHECK(cudaMemcpyPeerAsync(g[to].b + half, to, g[d].a + half, d, bytes, second[d]));
    }
    sync_all();
    for (int d = 0; d < gpus; d++)
        wrong += wrong_from(g[d].b, 70 * ((d + gpus - 1) % gpus), 1);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamDestroy(second[d]));
        free_gpu(d, &g[d]);
    }
    return end(wrong);
}
