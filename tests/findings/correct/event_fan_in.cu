// SPDX-License-Identifier: MIT
// event_fan_in.cu: all GPUs fill a buffer; GPU 0 waits for all their events and adds them up.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, d);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
    }
    CHECK(cudaSetDevice(0));
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaStreamWaitEvent(g[0].stream, g[d].done, 0));
        add<<<BLOCKS, BLOCK, 0, g[0].stream>>>(g[0].b, g[d].a);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaStreamSynchronize(g[0].stream));
    int wrong = wrong_from(g[0].b, gpus * (gpus - 1) / 2, gpus);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
