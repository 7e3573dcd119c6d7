// SPDX-License-Identifier: MIT
// tree_sum.cu: pairs, then pairs of pairs; the left one of each waits for the right one's event.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    begin();
    for (int d = 0; d < gpus; d++) {
        g[d] = make_gpu(d);
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, d * d);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
    }
    int total = 0;
    for (int d = 0; d < gpus; d++)
        total += d * d;
    for (int apart = 1; apart < gpus; apart *= 2)
        for (int d = 0; d + apart < gpus; d += 2 * apart) {
            CHECK(cudaSetDevice(d));
            CHECK(cudaStreamWaitEvent(g[d].stream, g[d + apart].done, 0));
            add<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, g[d + apart].a);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(g[d].done, g[d].stream));
        }
    CHECK(cudaEventSynchronize(g[0].done));
    int wrong = wrong_from(g[0].a, total, gpus);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
