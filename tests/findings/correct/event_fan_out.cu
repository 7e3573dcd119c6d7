// SPDX-License-Identifier: MIT
// event_fan_out.cu: GPU 0 fills; all others wait for its one event and read at the same time, and
// GPU 0 waits for all of them before it overwrites.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    int wrong = 0;
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int round = 0; round < 3; round++) {
        CHECK(cudaSetDevice(0));
        for (int d = 1; d < gpus; d++)
            CHECK(cudaStreamWaitEvent(g[0].stream, g[d].done, 0));
        fill<<<BLOCKS, BLOCK, 0, g[0].stream>>>(g[0].a, round);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(g[0].done, g[0].stream));
        for (int d = 1; d < gpus; d++) {
            CHECK(cudaSetDevice(d));
            CHECK(cudaStreamWaitEvent(g[d].stream, g[0].done, 0));
            add<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].b, g[0].a);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(g[d].done, g[d].stream));
        }
    }
    sync_all();
    for (int d = 1; d < gpus; d++)
        wrong += wrong_from(g[d].b, 0 + 1 + 2, 3);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
