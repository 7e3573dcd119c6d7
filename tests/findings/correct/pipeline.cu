// SPDX-License-Identifier: MIT
// pipeline.cu: batches go through all GPUs; a stage has one buffer, which the stage before may fill
// again when the event says that it was read.
#include "correct.h"

enum { BATCHES = 5 };

int main()
{
    struct gpu g[GPUS];
    cudaEvent_t empty[GPUS];
    int *result;
    begin();
    for (int d = 0; d < gpus; d++) {
        g[d] = make_gpu(d);
        empty[d] = event_on(d);
    }
    result = zeros_on(gpus - 1, N);
    for (int batch = 0; batch < BATCHES; batch++)
        for (int d = 0; d < gpus; d++) {
            int *out = d + 1 < gpus ? g[d + 1].a : g[d].b;
            CHECK(cudaSetDevice(d));
            if (d > 0)
                CHECK(cudaStreamWaitEvent(g[d].stream, g[d - 1].done, 0));
            else
                fill<<<BLOCKS, BLOCK, 0, g[0].stream>>>(g[0].a, batch);
            if (d + 1 < gpus && batch > 0)
                CHECK(cudaStreamWaitEvent(g[d].stream, empty[d + 1], 0));
            copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(out, g[d].a, 1);
            CHECK(cudaEventRecord(empty[d], g[d].stream));
            CHECK(cudaEventRecord(g[d].done, g[d].stream));
            if (d + 1 == gpus)
                add<<<BLOCKS, BLOCK, 0, g[d].stream>>>(result, out);
            CHECK(cudaGetLastError());
        }
    sync_all();
    int wrong = wrong_from(result, BATCHES * (BATCHES - 1) / 2 + BATCHES * gpus, BATCHES);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaEventDestroy(empty[d]));
        free_gpu(d, &g[d]);
    }
    CHECK(cudaSetDevice(gpus - 1));
    CHECK(cudaFree(result));
    return end(wrong);
}
