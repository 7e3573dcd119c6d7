// SPDX-License-Identifier: MIT
// broadcast_chunks.cu: GPU 0's buffer goes along the chain in chunks, an event a chunk and hop.
#include "correct.h"

enum { CHUNKS = 4, CHUNK = N / CHUNKS };

int main()
{
    struct gpu g[GPUS];
    cudaEvent_t here[GPUS][CHUNKS];
    int wrong = 0;
    begin();
    for (int d = 0; d < gpus; d++) {
        g[d] = make_gpu(d);
        for (int c = 0; c < CHUNKS; c++)
            here[d][c] = event_on(d);
    }
    CHECK(cudaSetDevice(0));
    fill<<<BLOCKS, BLOCK, 0, g[0].stream>>>(g[0].a, 31);
    CHECK(cudaGetLastError());
    for (int c = 0; c < CHUNKS; c++)
        for (int d = 0; d + 1 < gpus; d++) {
            size_t at = (size_t)c * CHUNK;
            CHECK(cudaSetDevice(d));
            if (d > 0)
                CHECK(cudaStreamWaitEvent(g[d].stream, here[d - 1][c], 0));
            CHECK(cudaMemcpyPeerAsync(g[d + 1].a + at, d + 1, g[d].a + at, d, CHUNK * sizeof(int),
                                      g[d].stream));
            CHECK(cudaEventRecord(here[d][c], g[d].stream));
        }
    sync_all();
    for (int d = 0; d < gpus; d++)
        wrong += wrong_from(g[d].a, 31, 1);
    for (int d = 0; d < gpus; d++) {
        for (int c = 0; c < CHUNKS; c++)
            CHECK(cudaEventDestroy(here[d][c]));
        free_gpu(d, &g[d]);
    }
    return end(wrong);
}
