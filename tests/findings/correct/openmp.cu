// SPDX-License-Identifier: MIT
// openmp.cu: an OpenMP thread a GPU; each waits for its GPU before the barrier, behind which all
// read their neighbours.
#include "correct.h"
#include <omp.h>

int main()
{
    struct gpu g[GPUS];
    int wrong = 0;
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
#pragma omp parallel num_threads(gpus)
    {
        int d = omp_get_thread_num(), left = (d + gpus - 1) % gpus;
        CHECK(cudaSetDevice(d));
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 50 * d);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(g[d].stream));
#pragma omp barrier
        copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].b, g[left].a, 1);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(g[d].stream));
    }
    for (int d = 0; d < gpus; d++)
        wrong += wrong_from(g[d].b, 50 * ((d + gpus - 1) % gpus) + 1, 1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
