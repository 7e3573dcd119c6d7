// SPDX-License-Identifier: MIT
// ring_sum.cu: an all-reduce as a ring, a chunk a step: copies into the right neighbour's inbox,
// an event when it is full and an event when it is free again.
#include "correct.h"

enum { CHUNK = 64 };

__global__ void add_chunk(int *to, const int *from)
{
    to[threadIdx.x] += from[threadIdx.x];
}

static struct gpu g[GPUS];
static cudaEvent_t taken[GPUS];

static void step(int number, int chunk_of_0, bool adds)
{
    for (int d = 0; d < gpus; d++) {
        int right = (d + 1) % gpus, chunk = ((chunk_of_0 + d) % gpus + gpus) % gpus;
        CHECK(cudaSetDevice(d));
        if (number > 0)
            CHECK(cudaStreamWaitEvent(g[d].stream, taken[right], 0));
        CHECK(cudaMemcpyPeerAsync(g[right].b, right, g[d].a + chunk * CHUNK, d, CHUNK * sizeof(int),
                                  g[d].stream));
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
    }
    for (int d = 0; d < gpus; d++) {
        int left = (d + gpus - 1) % gpus, chunk = ((chunk_of_0 + left) % gpus + gpus) % gpus;
        int *mine = g[d].a + chunk * CHUNK;
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamWaitEvent(g[d].stream, g[left].done, 0));
        if (adds)
            add_chunk<<<1, CHUNK, 0, g[d].stream>>>(mine, g[d].b);
        else
            CHECK(cudaMemcpyAsync(mine, g[d].b, CHUNK * sizeof(int), cudaMemcpyDeviceToDevice,
                                  g[d].stream));
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(taken[d], g[d].stream));
    }
}

int main()
{
    int wrong = 0, got[GPUS * CHUNK];
    begin();
    for (int d = 0; d < gpus; d++) {
        g[d] = make_gpu(d);
        taken[d] = event_on(d);
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, d);
        CHECK(cudaGetLastError());
    }
    for (int i = 0; i < gpus - 1; i++)
        step(i, -i, true);
    for (int i = 0; i < gpus - 1; i++)
        step(gpus - 1 + i, 1 - i, false);
    sync_all();
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaMemcpy(got, g[d].a, gpus * CHUNK * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < gpus * CHUNK; i++)
            wrong += got[i] != gpus * i + gpus * (gpus - 1) / 2;
    }
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaEventDestroy(taken[d]));
        free_gpu(d, &g[d]);
    }
    return end(wrong);
}
