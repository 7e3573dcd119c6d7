// SPDX-License-Identifier: MIT
// interleaved.cu: all GPUs write into one buffer at once, each every so many elements.
#include "correct.h"

__global__ void every(int *to, int mine, int all)
{
    int i = me() * all + mine;
    if (i < N)
        to[i] = 5 * i;
}

int main()
{
    struct gpu g[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        every<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[gpus - 1].a, d, gpus);
        CHECK(cudaGetLastError());
    }
    sync_all();
    int wrong = wrong_from(g[gpus - 1].a, 0, 5);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
