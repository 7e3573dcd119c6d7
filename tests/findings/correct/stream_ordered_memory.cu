// SPDX-License-Identifier: MIT
// stream_ordered_memory.cu: cudaMallocAsync in one stream, used by another GPU after an event,
// and cudaFreeAsync after that GPU's event.
#include "correct.h"

static void share_pool(int owner, cudaMemAccessFlags flags)
{
    cudaMemPool_t pool;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, owner));
    for (int d = 0; d < gpus; d++) {
        cudaMemAccessDesc access = {};
        access.location.type = cudaMemLocationTypeDevice;
        access.location.id = d;
        access.flags = flags;
        if (d != owner)
            CHECK(cudaMemPoolSetAccess(pool, &access, 1));
    }
}

int main()
{
    struct gpu g[GPUS];
    int *lent;
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    share_pool(0, cudaMemAccessFlagsProtReadWrite);
    struct gpu *last = &g[gpus - 1];
    for (int round = 0; round < 3; round++) {
        CHECK(cudaSetDevice(0));
        CHECK(cudaMallocAsync((void **)&lent, N * sizeof(int), g[0].stream));
        fill<<<BLOCKS, BLOCK, 0, g[0].stream>>>(lent, round);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(g[0].done, g[0].stream));
        CHECK(cudaSetDevice(gpus - 1));
        CHECK(cudaStreamWaitEvent(last->stream, g[0].done, 0));
        add<<<BLOCKS, BLOCK, 0, last->stream>>>(last->b, lent);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(last->done, last->stream));
        CHECK(cudaSetDevice(0));
        CHECK(cudaStreamWaitEvent(g[0].stream, last->done, 0));
        CHECK(cudaFreeAsync(lent, g[0].stream));
    }
    sync_all();
    int wrong = wrong_from(last->b, 0 + 1 + 2, 3);
    share_pool(0, cudaMemAccessFlagsProtNone);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
