// SPDX-License-Identifier: MIT
// grid_sync.cu: a cooperative grid on each GPU exchanges between its blocks by grid.sync(); events
// order the GPUs.
#include "correct.h"
#include <cooperative_groups.h>

__global__ void reverse(int *to, int *from)
{
    if (me() < N)
        from[me()] = me();
    cooperative_groups::this_grid().sync();
    if (me() < N)
        to[me()] = from[N - 1 - me()];
}

int main()
{
    struct gpu g[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        void *args[] = {&g[d].a, &g[d].b};
        CHECK(cudaSetDevice(d));
        CHECK(cudaLaunchCooperativeKernel((void *)reverse, dim3(BLOCKS), dim3(BLOCK), args, 0,
                                          g[d].stream));
        if (d > 0) {
            CHECK(cudaStreamWaitEvent(g[d].stream, g[d - 1].done, 0));
            add<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, g[d - 1].a);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
    }
    sync_all();
    int wrong = wrong_from(g[gpus - 1].a, gpus * (N - 1), -gpus);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
