// SPDX-License-Identifier: MIT
// stream_synchronize.cu: the host waits for a stream of one GPU before the next GPU reads.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        if (d == 0)
            fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 1);
        else
            copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, g[d - 1].a, 2);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(g[d].stream));
    }
    int wrong = wrong_from(g[gpus - 1].a, 1 + 2 * (gpus - 1), 1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
