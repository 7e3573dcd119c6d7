// SPDX-License-Identifier: MIT
// event_chain.cu: each GPU adds one to what the one before it wrote; an event between two.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        if (d == 0) {
            fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 5);
        } else {
            CHECK(cudaStreamWaitEvent(g[d].stream, g[d - 1].done, 0));
            copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, g[d - 1].a, 1);
        }
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
    }
    CHECK(cudaEventSynchronize(g[gpus - 1].done));
    int wrong = wrong_from(g[gpus - 1].a, 5 + gpus - 1, 1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
