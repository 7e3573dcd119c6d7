// SPDX-License-Identifier: MIT
// device_synchronize.cu: all GPUs compute, the host waits for all, then each reads its neighbour.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    int wrong = 0;
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 100 * d);
        CHECK(cudaGetLastError());
    }
    sync_all();
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].b, g[(d + 1) % gpus].a, 0);
        CHECK(cudaGetLastError());
    }
    sync_all();
    for (int d = 0; d < gpus; d++)
        wrong += wrong_from(g[d].b, 100 * ((d + 1) % gpus), 1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
